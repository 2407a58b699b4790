package results

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// deciding lists the packages whose sources decide the result of a grading. A test compares
// the list with their imports.
var deciding = []string{
	"grader", // what runs, in which order, how often
	"grader/boxes",
	"grader/fault",
	"grader/judge",
	"grader/lang",
	"grader/lang/golang",
	"grader/lang/golang/compile",
	"grader/lang/golang/vet",
	"grader/lang/golang/vet/typed",
	"grader/measure",
	"grader/measure/quantile",
	"grader/submission",
	"grader/verdict",
	"observe", // what hidden tests import
	"observe/wire",
	"sandbox",
	"sandbox/docker", // what a program may do, and how its memory is read
	"sandbox/process",
	"sandbox/protocol",
	"sandbox/supervisor",
	"sandbox/toolchain",
}

// decidingFiles decide alone of their packages.
var decidingFiles = []string{
	"exercises/course/kit.go", // the tree that hidden tests are built in
}

// SourceDigest returns a SHA-256 over the sources that decide a result, from a tree with at
// least those packages of this module. It leaves out tests, commands, reports and stores:
// two programs that grade alike have the same digest, and results of one hold for the
// other.
func SourceDigest(tree fs.FS) (string, error) {
	names := slices.Clone(decidingFiles)
	for _, dir := range deciding {
		entries, err := fs.ReadDir(tree, dir)
		if err != nil {
			return "", fmt.Errorf("hash the sources that decide: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() && decides(e.Name()) {
				names = append(names, path.Join(dir, e.Name()))
			}
		}
	}
	h := sha256.New()
	for _, name := range names {
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return "", fmt.Errorf("hash the sources that decide: %w", err)
		}
		fmt.Fprintf(h, "%d %s %d %s", len(name), name, len(data), data) // lengths keep neighbours apart
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// decides reports whether a file of a deciding package decides: its sources do, and what
// they embed, but for tests.
func decides(name string) bool {
	return path.Ext(name) == ".json" || path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go")
}
