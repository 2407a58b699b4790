// Command litter leaves files in its scratch directory, the second argument.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

var scratch = os.Args[2]

func at(name string) string { return filepath.Join(scratch, name) }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	switch os.Args[1] {
	case "heap": // files that are awkward to remove; the third argument is a path outside
		heap(os.Args[3])
	case "deep":
		deep()
	case "many":
		for i := range 3_000 {
			must(os.WriteFile(at(fmt.Sprint(i)), nil, 0o600))
		}
	case "endless":
		for i := 0; ; i++ {
			if err := os.WriteFile(at(fmt.Sprint(i)), nil, 0o600); err != nil {
				fmt.Println(err)
				return
			}
		}
	case "stay":
		must(os.WriteFile(at("secret"), nil, 0o644))
		time.Sleep(time.Hour)
	case "offers": // files to collect
		offers()
	case "swap": // replaces the scratch directory by a link to the third argument
		must(os.WriteFile(at("left"), nil, 0o600))
		must(os.Rename(scratch, scratch+"-moved"))
		must(os.Symlink(os.Args[3], scratch))
	case "shut": // removes all permissions of the scratch directory itself
		must(os.WriteFile(at("left"), nil, 0o600))
		must(os.Chmod(scratch, 0))
	}
}

func heap(outside string) {
	must(os.WriteFile(at("file"), []byte("x"), 0o000))
	must(os.WriteFile(at(strings.Repeat("n", 255)), nil, 0o600))
	must(os.WriteFile(at("-rf \n\x1b[31m"), nil, 0o600))
	must(os.Symlink("/", at("root")))
	must(os.Symlink(outside, at("outside")))
	must(os.Symlink("loop", at("loop")))
	_ = syscall.Mkfifo(at("fifo"), 0o600) // not every sandbox allows it
	must(os.MkdirAll(at("a/b/c"), 0o700))
	must(os.Symlink(outside, at("a/b/c/outside")))
	must(os.WriteFile(at("a/b/c/file"), []byte("x"), 0o600))
	must(os.Chmod(at("a/b/c"), 0))
	must(os.Chmod(at("a/b"), 0))
	must(os.Chmod(at("a"), 0))
}

// deep nests directories while there is room, deeper than any path, and deeper than
// there are descriptors.
func deep() {
	must(os.Chdir(scratch))
	for range 5_000 {
		if err := os.Mkdir("d", 0o700); errors.Is(err, syscall.ENOSPC) {
			return
		}
		must(os.Chdir("d"))
	}
}

func offers() {
	must(os.WriteFile(at("regular"), []byte("content"), 0o644))
	must(os.WriteFile(at("empty"), nil, 0o644))
	must(os.Mkdir(at("dir"), 0o755))
	must(os.WriteFile(at("dir/nested"), []byte("nested"), 0o644))
	must(os.WriteFile(at("exact"), make([]byte, 1000), 0o644))
	must(os.WriteFile(at("big"), make([]byte, 1001), 0o644))
	must(os.WriteFile(at("sparse"), nil, 0o644))
	must(os.Truncate(at("sparse"), 1<<20))
	must(os.Symlink("regular", at("link")))
	must(os.Symlink("/proc/self/status", at("outside")))
	must(os.Symlink("../../../../../../../../etc/hostname", at("up")))
	_ = syscall.Mkfifo(at("fifo"), 0o644)
}
