// Package toolchain finds this machine's Go toolchain and compiles the small
// static programs that travel into a sandbox. It runs go on grade's own sources
// only, never on a submission.
package toolchain

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Go is a toolchain.
type Go struct {
	Root    string // GOROOT
	Version string // as in "go1.26.1"
}

// found caches toolchains by the path of their go command, because asking one
// takes as long as a fair part of a build.
var found sync.Map

// Find asks the go command on the path where its toolchain is.
func Find(ctx context.Context) (Go, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return Go{}, errors.New("no go command on the path: install Go 1.26 or newer from https://go.dev/dl")
	}
	if g, ok := found.Load(path); ok {
		return g.(Go), nil
	}
	cmd := exec.CommandContext(ctx, path, "env", "-json", "GOROOT", "GOVERSION")
	cmd.Dir = "/" // away from any go.mod or go.work of the current directory
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOENV=off", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return Go{}, fmt.Errorf("go env: %w", err)
	}
	var env struct{ GOROOT, GOVERSION string }
	if err := json.Unmarshal(out, &env); err != nil {
		return Go{}, fmt.Errorf("go env: %w", err)
	}
	g := Go{Root: env.GOROOT, Version: env.GOVERSION}
	found.Store(path, g)
	return g, nil
}

// Command returns the path of the go command.
func (g Go) Command() string { return filepath.Join(g.Root, "bin", "go") }

// hashTree identifies a source tree by its content.
func hashTree(src fs.FS) (string, error) {
	h := sha256.New()
	err := fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(src, name)
		fmt.Fprintf(h, "%q %d\n", name, len(data))
		h.Write(data)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// Compile builds the program in directory pkg of src for Linux and returns its
// path. src is a tree of module grade that needs the standard library only. The
// program is cached by everything that goes into it.
func (g Go) Compile(ctx context.Context, src fs.FS, pkg, goarch string) (string, error) {
	hash, err := hashTree(src)
	if err != nil {
		return "", err
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%s\n", hash, g.Version, pkg, goarch))
	dir, err := CacheDir("programs")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, fmt.Sprintf("%s-%x", filepath.Base(pkg), key[:8]))
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := g.compile(ctx, src, pkg, goarch, program); err != nil {
		return "", fmt.Errorf("compile %s for linux/%s: %w", pkg, goarch, err)
	}
	return program, nil
}

func (g Go) compile(ctx context.Context, src fs.FS, pkg, goarch, program string) error {
	tree, err := os.MkdirTemp("", "grade-compile-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	if err := os.CopyFS(tree, src); err != nil {
		return err
	}
	mod := "module grade\n\ngo " + languageVersion(g.Version) + "\n"
	if err := os.WriteFile(filepath.Join(tree, "go.mod"), []byte(mod), 0o600); err != nil {
		return err
	}
	out := filepath.Join(tree, "program")
	cmd := exec.CommandContext(ctx, g.Command(), "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out, "./"+pkg)
	cmd.Dir, cmd.WaitDelay = tree, time.Second // its compilers hold its output open
	if cmd.Env, err = g.environ(goarch); err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	return install(out, program)
}

// environ returns the environment of a build: the user's, which has the caches
// and proxies, without the variables that would change the result.
func (g Go) environ(goarch string) ([]string, error) {
	env := append(os.Environ(), "GOROOT="+g.Root, "GOENV=off", "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=-mod=readonly",
		"GOPROXY=off", "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+goarch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GODEBUG=")
	return withCache(env, listedHome)
}

// withCache adds where go keeps its caches, if the environment does not say: go refuses to
// work without.
func withCache(env []string, listed func() string) ([]string, error) {
	if _, err := os.UserCacheDir(); err == nil || os.Getenv("GOCACHE") != "" {
		return env, nil
	}
	if home := listed(); home != "" {
		return append(env, "HOME="+home), nil
	}
	cache, err := cacheDir(listed, "go-build")
	return append(env, "GOCACHE="+cache), err
}

// install moves a file into the cache in one step, so that other processes never
// see half of it.
func install(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(to), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err := errors.Join(err, tmp.Chmod(0o755), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), to)
}

// languageVersion turns "go1.26.1" into "1.26".
func languageVersion(v string) string {
	v = strings.TrimPrefix(v, "go")
	parts := strings.SplitN(v, ".", 3)
	if len(parts) < 2 {
		return strings.TrimPrefix(runtime.Version(), "go")
	}
	return parts[0] + "." + parts[1]
}
