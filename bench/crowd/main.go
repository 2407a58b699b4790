//go:build linux

// Command crowd measures what memory grade batch takes for a crowd: thousands of submissions
// of usual size, of which most are equal to an earlier one, or are refused by reading them, and
// one in a hundred is graded. It prints the resident memory at each tenth of the way, and that of
// a second batch, which knows all results.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"grade"
	"grade/exercises/course"
)

// most is what grade may take at any time, in bytes.
const most = 200 << 20

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench-crowd:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("crowd", flag.ContinueOnError)
	size := flags.Int("n", 10_000, "`number` of submissions")
	program := flags.String("grade", "bin/grade", "the grade to look at")
	name := flags.String("exercise", "autograd", "what is handed in")
	if err := flags.Parse(args); err != nil {
		return err
	}
	e, err := course.Open(grade.Course).Load(*name)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "grade-crowd-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for i := range *size {
		if err := handIn(filepath.Join(dir, "students", fmt.Sprintf("s%05d", i), e.Name), e, i); err != nil {
			return err
		}
	}
	for _, run := range []string{"first", "second, which knows all results"} {
		fmt.Fprintf(out, "%s, %d submissions; the %s batch\n", e.Name, *size, run)
		if err := watch(ctx, *program, dir, *size, out); err != nil {
			return err
		}
	}
	return nil
}

// handIn writes a submission: the reference and a file more. One in a hundred has a comment of its
// own there, four in ten import what is not allowed, each in other words, and the others are alike.
func handIn(dir string, e *course.Exercise, i int) error {
	own := fmt.Appendf(nil, "package %s\n", e.Package)
	switch {
	case i%100 == 0:
		own = fmt.Appendf(own, "\n// number %d\n", i)
	case i%10 < 4:
		own = fmt.Appendf(own, "\nimport _ \"unsafe\" // number %d\n", i)
	}
	files := append([]course.File{{Name: "own.go", Data: own}}, e.Reference...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// watch runs the batch, and looks at its memory until each tenth of the results is there.
func watch(ctx context.Context, program, dir string, size int, out io.Writer) error {
	var said, told bytes.Buffer
	results := filepath.Join(dir, "results")
	cmd := exec.CommandContext(ctx, program, "batch", filepath.Join(dir, "students"), "--results", results)
	cmd.Stdout, cmd.Stderr = &told, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	lines := counter{name: filepath.Join(results, "results.jsonl")}
	var held float64
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for next := size / 10; ; {
		select {
		case err := <-ended:
			if err != nil {
				return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, said.Bytes())
			}
			if lines.count() != size {
				return fmt.Errorf("%s: %d results of %d submissions: %s", strings.Join(cmd.Args, " "), lines.count(), size, said.Bytes())
			}
			last := strings.Split(strings.TrimSpace(told.String()), "\n")
			fmt.Fprintln(out, last[len(last)-1])
			return conclude(cmd.ProcessState, time.Since(started), out)
		case <-look.C:
		}
		held = max(held, resident(cmd.Process.Pid))
		if n := lines.count(); n >= next {
			fmt.Fprintf(out, "%6d results  %4.0f MiB resident at most since the line before  %6.0f s\n", n, held, time.Since(started).Seconds())
			held, next = 0, n+size/10
		}
	}
}

func conclude(state *os.ProcessState, took time.Duration, out io.Writer) error {
	peak, met := state.SysUsage().(*syscall.Rusage).Maxrss<<10, "met"
	if peak > most {
		met = "missed"
	}
	_, err := fmt.Fprintf(out, "%.0f MiB at most (target: %d, %s), %.0f s\n", float64(peak)/(1<<20), most>>20, met, took.Seconds())
	return err
}

// resident is the memory of a process now, in MiB; 0 once it has ended.
func resident(pid int) float64 {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	s, err := p.Stat()
	if err != nil {
		return 0
	}
	return float64(s.ResidentMemory()) / (1 << 20)
}

// counter counts the lines of a file that grows.
type counter struct {
	name  string
	read  int64
	lines int
}

func (c *counter) count() int {
	f, err := os.Open(c.name)
	if err != nil {
		return c.lines // there is none yet
	}
	defer f.Close()
	more, _ := io.ReadAll(io.NewSectionReader(f, c.read, 1<<30))
	c.read += int64(len(more))
	c.lines += bytes.Count(more, []byte("\n"))
	return c.lines
}
