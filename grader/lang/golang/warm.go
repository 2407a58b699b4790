package golang

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/sandbox"
)

// warmPackages are the packages that hidden tests and submissions usually import. They
// are compiled once, into a build image; every build compiles any other package again.
const warmPackages = `
bufio bytes cmp container/heap container/list container/ring context crypto/sha256
encoding/base64 encoding/binary encoding/csv encoding/gob encoding/hex encoding/json encoding/xml errors flag fmt
hash hash/adler32 hash/crc32 hash/crc64 hash/fnv hash/maphash html io io/fs iter log maps math math/big math/bits
math/cmplx math/rand math/rand/v2 os path path/filepath reflect regexp runtime runtime/debug slices sort strconv
strings sync sync/atomic syscall testing testing/fstest testing/iotest testing/synctest text/tabwriter time unicode
unicode/utf16 unicode/utf8 unique unsafe weak`

// Warm fills a build image's cache with an index of the whole standard library, which
// the go command would otherwise try to write in each build, with the kit, and with
// the packages that tests import.
func Warm(kit fs.FS) sandbox.Warm {
	test := warmTest()
	key := sha256.Sum256(fmt.Appendf(nil, "%q %s %s list", buildFlags, kitHash(kit), test))
	return sandbox.Warm{
		Key: fmt.Sprintf("%x", key[:8]),
		Requests: func(d sandbox.Dirs) ([]sandbox.Request, error) {
			index, err := warmRequest(d, kit, test)
			compile := index
			index.Args = []string{"list", "std"}
			compile.Files = nil // the first request has written them
			compile.Args = append(slices.Clone(buildFlags), "-o", path.Join(d.Scratch, programName), "./warm")
			return []sandbox.Request{index, compile}, err
		},
	}
}

// WarmRace fills the cache of Warm for the race detector too. The tool answers for gcc; what
// gcc has compiled is there already.
func WarmRace(kit fs.FS, tool Compiler) sandbox.Warm {
	test := warmTest()
	key := sha256.Sum256(fmt.Appendf(nil, "%q %s %s", raceFlags(""), kitHash(kit), test))
	return sandbox.Warm{
		Key: fmt.Sprintf("%x", key[:8]),
		Requests: func(d sandbox.Dirs) ([]sandbox.Request, error) {
			// Programs with the race detector are built where their C library is.
			program, err := tool(context.Background(), runtime.GOARCH)
			if err != nil {
				return nil, err
			}
			compile, err := warmRequest(d, kit, test)
			compile.Files = append(compile.Files, sandbox.File{Name: toolName, Exec: true, Data: program})
			race := raceRequest(d, "./warm")
			compile.Args, compile.Env = race.Args, append(race.Env, fewAtOnce)
			return []sandbox.Request{compile}, err
		},
	}
}

// warmTest is a test that imports what others do.
func warmTest() string {
	var test strings.Builder
	test.WriteString("package warm\n\nimport (\n")
	for p := range strings.FieldsSeq(warmPackages) {
		fmt.Fprintf(&test, "\t_ %q\n", p)
	}
	test.WriteString("\t\"testing\"\n\n\t\"grade/observe\"\n)\n\nfunc TestWarm(t *testing.T) { observe.New(t).Bool(\"warm\", true) }\n")
	return test.String()
}

// fewAtOnce has the go command run four compilers at a time: one for each CPU of a large machine
// would need more memory than the box has.
const fewAtOnce = "GOMAXPROCS=4"

// warmRequest brings the test and the kit, with more time than a build has.
func warmRequest(d sandbox.Dirs, kit fs.FS, test string) (sandbox.Request, error) {
	files, err := kitFiles(kit, course.KitModule)
	files = append(files, sandbox.File{Name: "warm/warm_test.go", Data: []byte(test)})
	q := buildRequest(d, files, "./warm", "", nil)
	q.Env = append(q.Env, fewAtOnce)
	q.Limits.Wall, q.Limits.CPU = 10*buildTime, 20*buildTime
	return q, err
}

// kitHash identifies the content of the kit. It ignores an error of reading the kit,
// which the next build reports.
func kitHash(kit fs.FS) string {
	files, _ := kitFiles(kit, course.KitModule)
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%q %d\n", f.Name, len(f.Data))
		h.Write(f.Data)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
