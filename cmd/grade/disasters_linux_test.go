package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/turn"
	"grade/grader/verdict"
)

func init() { programs["weighed"] = weighed }

// weighed is grade with its arguments after the first, which names a file for what the
// kernel says of the process at its end. The peak in there is this program's own; what
// wait tells of a child is not, if its parent was larger when it was forked.
func weighed() {
	code := run(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr)
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		err = os.WriteFile(os.Args[1], status, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "weighed:", err)
		os.Exit(125)
	}
	os.Exit(code)
}

// mostResident is what grade itself may take, whatever it is given, in bytes.
const mostResident = 200 << 20

// disasters are submissions of the exercise tally, each with what it must come to: the
// rule that refuses it, or the verdict on its only check. Neighbours are graded side by
// side.
var disasters = map[string]struct {
	make    func(t *testing.T, dir string) // dir is <student>/tally
	rule    string
	verdict verdict.Verdict
	or      verdict.Verdict // where two are right
}{
	"right":    {make: source(tally), verdict: verdict.Passed},
	"flood":    {make: source(flood), verdict: verdict.OutputLimit},
	"threads":  {make: source(threads), verdict: verdict.RuntimeError, or: verdict.TimeLimit}, // as soon as the kernel gets to it
	"huge":     {make: source(tally + "\nvar table = []string{\n" + strings.Repeat("\t\"0123456789abcdef0123456789abcdef\",\n", 280_000) + "}\n"), rule: "too-large"},
	"odd":      {make: source("package count\n\nvar x = " + strings.Repeat("(", 10<<20)), rule: "too-large"},
	"nested":   {make: source("package count\n\nvar x = " + strings.Repeat("(", 200<<10)), rule: "nesting"},
	"fat":      {make: source(tally + "\nvar fat = [60 << 20]byte{1}\n\nfunc init() { fat[0]++ }\n"), rule: "build-limit"},
	"fat2":     {make: source(tally + "\nvar fat = [60 << 20]byte{2}\n\nfunc init() { fat[0]++ }\n"), rule: "build-limit"},
	"fat3":     {make: source(tally + "\nvar fat = [60 << 20]byte{3}\n\nfunc init() { fat[0]++ }\n"), rule: "build-limit"},
	"crowd":    {make: crowd, rule: "too-many"},
	"bomb":     {make: bomb, rule: "too-large"},
	"matrix":   {make: matrix, rule: "archive"},
	"members":  {make: members, rule: "too-many"},
	"members2": {make: members, rule: "too-many"},
	"members3": {make: members, rule: "too-many"},
}

const (
	tally = `package count

import "strings"

func Words(s string) int { return len(strings.Fields(s)) }
`
	// flood prints 100 MB before the test and 100 MB in it.
	flood = `package count

import "fmt"

func init() { flood() }

func flood() {
	line := string(make([]byte, 1<<20))
	for range 100 {
		fmt.Print(line)
	}
}

func Words(string) int { flood(); return 3 }
`
	// threads has one for each goroutine that is in the kernel when Go's scheduler looks.
	threads = `package count

import "os"

func init() {
	for range 300 {
		go func() {
			for {
				_, _ = os.ReadFile("/proc/self/smaps")
			}
		}()
	}
}

func Words(string) int { select {} }
`
)

func source(text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "count.go"), []byte(text), 0o600))
	}
}

// crowd is a folder with more files than are looked at, 10,000, beside a right solution.
func crowd(t *testing.T, dir string) {
	source(tally)(t, dir)
	for i := range 12_000 {
		f, err := os.Create(filepath.Join(dir, strconv.Itoa(i)+".txt"))
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
}

// archive writes a zip in place of the folder.
func archive(t *testing.T, dir string, fill func(w *zip.Writer)) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	fill(w)
	require.NoError(t, w.Close())
	require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	require.NoError(t, os.WriteFile(dir+".zip", b.Bytes(), 0o600))
}

// bomb holds a Go file of 4 GiB of zeros in 4 MB. A block of them, which begins anew at
// a whole byte, can be repeated without being compressed each time.
func bomb(t *testing.T, dir string) {
	const block, blocks = 1 << 20, 4 << 10
	var one, end bytes.Buffer
	w, err := flate.NewWriter(&one, flate.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(make([]byte, block))
	require.NoError(t, err)
	require.NoError(t, w.Flush())
	w.Reset(&end)
	require.NoError(t, w.Close())
	data := append(bytes.Repeat(one.Bytes(), blocks), end.Bytes()...)
	archive(t, dir, func(w *zip.Writer) {
		f, err := w.CreateRaw(&zip.FileHeader{Name: "count.go", Method: zip.Deflate, CompressedSize64: uint64(len(data)), UncompressedSize64: block * blocks})
		require.NoError(t, err)
		_, err = f.Write(data)
		require.NoError(t, err)
	})
}

// members is a list of 340,000 members and nothing else, in as large an archive as is
// looked at.
func members(t *testing.T, dir string) {
	const size = 16<<20 - 100
	header := make([]byte, 46) // of a name without a letter
	binary.LittleEndian.PutUint32(header, 0x02014b50)
	count := size / len(header)
	end := make([]byte, 22)
	binary.LittleEndian.PutUint32(end, 0x06054b50)
	binary.LittleEndian.PutUint16(end[8:], uint16(count))
	binary.LittleEndian.PutUint16(end[10:], uint16(count))
	binary.LittleEndian.PutUint32(end[12:], uint32(count*len(header)))
	require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	require.NoError(t, os.WriteFile(dir+".zip", append(bytes.Repeat(header, count), end...), 0o600))
}

// matrix holds an archive that holds an archive, and so on.
func matrix(t *testing.T, dir string) {
	inner := []byte(tally)
	name := "count.go"
	for range 50 {
		archive(t, dir, func(w *zip.Writer) {
			f, err := w.Create(name)
			require.NoError(t, err)
			_, err = f.Write(inner)
			require.NoError(t, err)
		})
		var err error
		inner, err = os.ReadFile(dir + ".zip")
		require.NoError(t, err)
		name = "count.zip"
	}
}

// Whatever is handed in, each gets a clear answer, the right one its points, and grade
// itself stays small.
func TestDisasters(t *testing.T) {
	turn.Take(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("makes and grades malformed submissions, which takes half a minute")
	}
	openEngine(t)
	course, students, results := t.TempDir(), t.TempDir(), t.TempDir()
	require.NoError(t, os.CopyFS(course, os.DirFS(filepath.Join("testdata", "course"))))
	config := filepath.Join(course, "exercises", "tally", "exercise.yaml")
	text, err := os.ReadFile(config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(config, append(text, "imports: [os, \"fmt:Print*\"]\n"...), 0o600))
	for student, d := range disasters {
		d.make(t, filepath.Join(students, student, "tally"))
	}
	peak := batchWeighed(t, "--course", course, students, "--results", results)
	t.Logf("%d MiB", peak>>20)
	assert.Less(t, peak, mostResident)
	records := kept(t, results)
	assert.Len(t, records, len(disasters))
	for _, r := range records {
		d := disasters[r.Student]
		if d.rule != "" {
			assert.Contains(t, []verdict.Verdict{verdict.Invalid, verdict.CompileError}, r.Result.Verdict, r.Student)
			require.NotEmpty(t, r.Result.Problems, r.Student)
			assert.Equal(t, d.rule, r.Result.Problems[0].Rule, r.Student)
			assert.NotEmpty(t, r.Result.Problems[0].Message)
			continue
		}
		assert.Equal(t, verdict.Graded, r.Result.Verdict, r.Student)
		assert.Contains(t, []verdict.Verdict{d.verdict, d.or}, r.Result.Checks[0].Verdict, r.Student)
	}
}

// batchWeighed runs grade batch as a process of its own, and returns the most memory it
// has held, in bytes.
func batchWeighed(t *testing.T, args ...string) (peak int) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "status")
	var out bytes.Buffer
	child := exec.Cmd{Path: self, Args: append([]string{"weighed", file, "batch"}, args...), Stdout: &out, Stderr: &out}
	require.NoError(t, child.Run(), &out)
	status, err := os.ReadFile(file)
	require.NoError(t, err)
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	require.NotNil(t, m)
	kB, err := strconv.Atoi(string(m[1]))
	require.NoError(t, err)
	return kB << 10
}
