package conformance

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"grade/sandbox"
	"grade/sandbox/toolchain"
)

// sources holds the programs of the table. As testdata they are no part of ./...
//
//go:embed testdata/programs
var sources embed.FS

// read caches the programs that this process has read.
var read sync.Map // of [2]string{arch, name} to func() (sandbox.File, error)

// Program returns one of the suite's programs, as a file with the program's name.
func Program(arch, name string) (sandbox.File, error) {
	once, _ := read.LoadOrStore([2]string{arch, name}, sync.OnceValues(func() (sandbox.File, error) { return program(arch, name) }))
	f, err := once.(func() (sandbox.File, error))()
	if err != nil {
		return f, fmt.Errorf("hostile program %s: %w", name, err)
	}
	return f, nil
}

// program has the toolchain build a program, unless it has built it before: the tests of two
// sandboxes and the processes that they start need the same ones. It keeps a program by the
// sources of all, so that one of other sources is never found.
func program(arch, name string) (f sandbox.File, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	g, err := toolchain.Find(ctx)
	if err != nil {
		return f, err
	}
	tree, err := fs.Sub(sources, "testdata")
	if err != nil {
		return f, err
	}
	path, err := g.Compile(ctx, tree, "programs/"+name, arch)
	if err != nil {
		return f, err
	}
	data, err := os.ReadFile(path)
	return sandbox.File{Name: name, Exec: true, Data: data}, err
}
