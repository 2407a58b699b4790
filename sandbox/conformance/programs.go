package conformance

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"grade/sandbox"
	"grade/sandbox/toolchain"
)

// sources holds the programs of the table. As testdata they are no part of ./...
//
//go:embed testdata/programs
var sources embed.FS

// built caches the programs of each architecture, which are built once a process.
var built sync.Map // of string to func() (map[string]sandbox.File, error)

// Program returns one of the suite's programs, as a file with the program's name.
func Program(arch, name string) (sandbox.File, error) {
	build, _ := built.LoadOrStore(arch, sync.OnceValues(func() (map[string]sandbox.File, error) { return buildPrograms(arch) }))
	all, err := build.(func() (map[string]sandbox.File, error))()
	if err != nil {
		return sandbox.File{}, fmt.Errorf("build the hostile programs: %w", err)
	}
	f, ok := all[name]
	if !ok {
		return f, fmt.Errorf("no hostile program %q", name)
	}
	return f, nil
}

func buildPrograms(arch string) (map[string]sandbox.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	g, err := toolchain.Find(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "grade-programs-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	programs, err := fs.Sub(sources, "testdata/programs")
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(filepath.Join(dir, "src"), programs); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "src", "go.mod"), []byte("module programs\n\ngo 1.26\n"), 0o600); err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "out")
	cmd := exec.CommandContext(ctx, g.Command(), "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out+"/", "./...")
	cmd.Dir = filepath.Join(dir, "src")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOWORK=off", "GOFLAGS=")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	return readPrograms(out)
}

func readPrograms(dir string) (map[string]sandbox.File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	all := map[string]sandbox.File{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all[e.Name()] = sandbox.File{Name: e.Name(), Exec: true, Data: data}
	}
	return all, nil
}
