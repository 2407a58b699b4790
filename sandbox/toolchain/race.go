package toolchain

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"grade/sandbox"
)

// Race is what programs with the race detector need besides a toolchain. Go's race
// detector is part of the toolchain, but it needs package runtime/cgo, which gcc compiles,
// and its programs load a C library.
type Race struct {
	Cache     string   // a build cache with the packages that gcc compiled
	Libraries []string // files that the programs load, by their absolute paths
	Key       string   // identifies the toolchain and the libraries
}

const (
	raceReady = "grade-race.json" // in a cache: it is filled; the go command ignores the file
	lockRetry = 100 * time.Millisecond
)

// RaceFresh is the time for which a filled cache counts as filled. The go command deletes
// entries of a cache that were unused for some days.
const RaceFresh = 24 * time.Hour

// Race compiles what the race detector needs with this machine's gcc, into a build cache,
// unless that was done within a time; 0: ever. It takes some ten seconds of CPU time.
// Where it cannot be done, the error is [sandbox.ErrNoRace] and says why: there is no real gcc, or
// the build fails again and again. Any other fault may pass, and must not cost a check.
func (g Go) Race(ctx context.Context, cache string, within time.Duration) (Race, error) {
	ready := filepath.Join(cache, raceReady)
	if r, err := readRace(ready, within); err == nil {
		return r, nil
	}
	lock := flock.New(filepath.Join(cache, "grade-race.lock"))
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return Race{}, err
	}
	defer lock.Unlock()
	if r, err := readRace(ready, within); err == nil { // another process has filled it meanwhile
		return r, nil
	}
	r, err := g.fillRace(ctx, cache)
	if ctx.Err() != nil {
		return Race{}, context.Cause(ctx)
	}
	if err != nil {
		return Race{}, err
	}
	data, err := json.Marshal(r)
	if err != nil {
		return Race{}, err
	}
	return r, os.WriteFile(ready, data, 0o600)
}

// HasCompiler reports whether this machine has the compiler that [Go.Race] needs.
func HasCompiler() bool {
	_, err := exec.LookPath("gcc")
	return err == nil && runtime.GOOS == "linux"
}

func readRace(ready string, within time.Duration) (r Race, err error) {
	info, err := os.Stat(ready)
	if err != nil {
		return r, err
	}
	if within > 0 && time.Since(info.ModTime()) > within {
		return r, os.ErrNotExist
	}
	data, err := os.ReadFile(ready)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(data, &r)
}

// fillRace builds an empty program with the race detector, and reads from it what it loads.
func (g Go) fillRace(ctx context.Context, cache string) (Race, error) {
	gcc, err := exec.LookPath("gcc")
	if err != nil || !HasCompiler() {
		return Race{}, fmt.Errorf("%w: %s/%s without gcc: it compiles a part of Go's runtime once", sandbox.ErrNoRace, runtime.GOOS, runtime.GOARCH)
	}
	tree, err := os.MkdirTemp(filepath.Dir(cache), "grade-race-") // where programs may run, which some forbid below /tmp
	if err != nil {
		return Race{}, err
	}
	defer os.RemoveAll(tree)
	if err := writeProbe(tree, gcc); err != nil {
		return Race{}, err
	}
	program := filepath.Join(tree, "program")
	if err := g.buildProbe(ctx, tree, program, cache); err != nil {
		return Race{}, err
	}
	if err := copyLibrary(ctx, gcc, cache); err != nil {
		return Race{}, err
	}
	libraries, err := loads(ctx, program)
	if err != nil {
		return Race{}, fmt.Errorf("find the libraries of an empty program: %w", err)
	}
	key, err := g.raceKey(libraries)
	return Race{cache, libraries, key}, err
}

// writeProbe writes an empty program, and a gcc that tells [sandbox.CompilerVersion] and
// compiles like the machine's.
func writeProbe(tree, gcc string) error {
	wrapper := "#!/bin/sh\nfor a in \"$@\"; do\n\tif [ \"$a\" = '-###' ]; then echo '" + sandbox.CompilerVersion + "'; exit 0; fi\ndone\nexec '" + gcc + "' \"$@\"\n"
	for name, text := range map[string]string{
		"go.mod": "module grade\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n", "gcc": wrapper,
	} {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(text), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// raceBuilds is how many builds have to fail before this machine counts as one that cannot have
// the race detector: one fails where gcc is killed on a full machine.
const raceBuilds = 2

// buildProbe builds the empty program. A go command that does not end by itself says nothing of
// what gcc can do.
func (g Go) buildProbe(ctx context.Context, tree, program, cache string) (err error) {
	for range raceBuilds {
		cmd := exec.CommandContext(ctx, g.Command(), "build", "-race", "-trimpath", "-buildvcs=false", "-ldflags=-linkmode=internal", "-o", program, ".")
		cmd.Dir, cmd.Env = tree, g.raceEnviron(tree, cache)
		said, failure := cmd.CombinedOutput()
		if failure == nil {
			return nil
		}
		err = fmt.Errorf("compile an empty program: %w: %.2000s", failure, said)
		if exit, ok := errors.AsType[*exec.ExitError](failure); !ok || !exit.Exited() || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %w", sandbox.ErrNoRace, err)
}

// lasting marks an error that will be the same the next time as one of a machine that cannot have
// the race detector: a program has ended by itself, or a file is not there.
func lasting(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", sandbox.ErrNoRace, err)
	}
	return err
}

// copyLibrary copies gcc's own library into the cache. The detector calls functions of it. A gcc
// that names none, or one that is not there, is another compiler under that name.
func copyLibrary(ctx context.Context, gcc, cache string) error {
	name, err := exec.CommandContext(ctx, gcc, "-print-libgcc-file-name").Output()
	if err != nil {
		return lasting(fmt.Errorf("%s -print-libgcc-file-name: %w", gcc, err))
	}
	data, err := os.ReadFile(strings.TrimSpace(string(name)))
	if err != nil {
		return lasting(fmt.Errorf("%s: %w", gcc, err))
	}
	return os.WriteFile(filepath.Join(cache, sandbox.CompilerLibrary), data, 0o644)
}

// raceEnviron is the whole environment of the build. A variable of the user's that changes
// what is compiled would change the keys in the cache.
func (g Go) raceEnviron(tree, cache string) []string {
	return []string{
		"HOME=" + tree, "TMPDIR=" + os.TempDir(), "PATH=" + tree + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"GOROOT=" + g.Root, "GOCACHE=" + cache, "GOPATH=" + filepath.Join(tree, "go"),
		"GOENV=off", "GOTOOLCHAIN=local", "GOWORK=off", "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOTELEMETRY=off", "CGO_ENABLED=1", "CC=gcc",
	}
}

// loads asks the dynamic linker that a program names which files it would load.
func loads(ctx context.Context, program string) ([]string, error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	at := slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if at < 0 {
		return nil, nil // it is static
	}
	name, err := io.ReadAll(f.Progs[at].Open())
	if err != nil {
		return nil, err
	}
	linker := string(bytes.TrimRight(name, "\x00"))
	out, err := exec.CommandContext(ctx, linker, "--list", program).Output()
	if err != nil {
		return nil, lasting(fmt.Errorf("%s --list: %w", linker, err))
	}
	return append([]string{linker}, listed(string(out), linker)...), nil
}

// listed reads the linker's list: a line "libc.so.6 => /lib/libc.so.6 (0x7f...)" for each
// library.
func listed(list, linker string) (files []string) {
	for line := range strings.Lines(list) {
		_, file, found := strings.Cut(strings.TrimSpace(line), " => ")
		if file, _, _ = strings.Cut(file, " ("); found && filepath.IsAbs(file) && file != linker && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

func (g Go) raceKey(libraries []string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %q\n", g.Version, sandbox.CompilerVersion)
	for _, name := range libraries {
		data, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q %d\n", name, len(data))
		h.Write(data)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}
