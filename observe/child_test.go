package observe_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"grade/observe/wire"
)

// The tests and benchmarks named Child run only in a process that runChild has
// started, as in a sandbox; elsewhere they skip.
const childEnv = "OBSERVE_TEST_CHILD"

func inChild(tb testing.TB) {
	if os.Getenv(childEnv) == "" {
		tb.Skip("runs as a child of another test")
	}
}

const seed = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

// childResult holds what a sandbox sees of a test.
type childResult struct {
	raw     []byte // bytes from the observation pipe
	stream  wire.Stream
	err     error // from the decoder
	marks   int
	exit    int
	printed string
}

// runChild runs one test or benchmark of this binary as a sandbox does: in a
// process of its own, with the pipes on descriptors 3, 4 and 5.
func runChild(t *testing.T, name string, env ...string) childResult {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-test.run=^" + name + "$"}
	if strings.HasPrefix(name, "Benchmark") {
		args = []string{"-test.run=^$", "-test.bench=^" + name + "$", "-test.benchtime=1x"}
	}
	cmd := exec.Command(exe, args...)
	// The race detector waits a second before it lets a process end.
	cmd.Env = append(os.Environ(), childEnv+"=1", "GORACE=atexit_sleep_ms=0", "GRADE_OBSERVE=v1", "GRADE_SEED="+seed)
	cmd.Env = append(cmd.Env, env...)
	var printed strings.Builder
	cmd.Stdout, cmd.Stderr = &printed, &printed

	observations, observe := pipe(t)
	marks, mark := pipe(t)
	marked, answer := pipe(t)
	cmd.ExtraFiles = []*os.File{observe, mark, marked}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	r := follow(t, observations, marks, answer)
	if err := cmd.Wait(); err != nil {
		if !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
	}
	r.exit, r.printed = cmd.ProcessState.ExitCode(), printed.String()
	r.stream, r.err = wire.Decode(r.raw)
	t.Logf("%s: exit %d, %d bytes, %v\n%s", name, r.exit, len(r.raw), r.err, r.printed)
	return r
}

// follow reads the observations and answers the marks until both pipes end.
func follow(t *testing.T, observations, marks, answer *os.File) (r childResult) {
	var wg sync.WaitGroup
	wg.Go(func() {
		var err error
		if r.raw, err = io.ReadAll(observations); err != nil {
			t.Error(err)
		}
	})
	wg.Go(func() {
		b := make([]byte, 1)
		for {
			if _, err := marks.Read(b); err != nil {
				return
			}
			r.marks++
			answer.Write(b)
		}
	})
	wg.Wait()
	return r
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}
