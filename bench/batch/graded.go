package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"grade/bench/class"
	"grade/exercises/course/fixture"
	"grade/grader"
	"grade/grader/prove"
	"grade/grader/results/file"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// stopTimeout limits the time that an interrupted grade takes to remove its containers.
const stopTimeout = 30 * time.Second

// graded is contender b: a class, and the grade that grades it.
type graded struct {
	program     string
	dir         string // temporary
	last        int    // process of the last command
	submissions []class.Shipped
	class       []class.Submission
	// kept holds the results that are not compared yet, by the folder of the shipped
	// submission.
	kept map[string][]*verdict.Result
}

func newGraded(program string, shipped []class.Shipped, students []class.Submission) (*graded, error) {
	dir, err := os.MkdirTemp("", "grade-bench-")
	if err != nil {
		return nil, err
	}
	g := &graded{program: program, dir: dir, submissions: shipped, class: students, kept: map[string][]*verdict.Result{}}
	for _, h := range students {
		if err := h.Write(g.at("students")); err != nil {
			g.close()
			return nil, err
		}
	}
	return g, nil
}

func (g *graded) close()                { os.RemoveAll(g.dir) }
func (g *graded) at(name string) string { return filepath.Join(g.dir, name) }

// prepare grades each reference once, which makes the images and compiles the
// references.
func (g *graded) prepare(ctx context.Context) error {
	for _, name := range class.Exercises(g.class) {
		if _, err := g.command(ctx, "submit", "reference/"+name, "--sandbox", "docker", "--quiet"); err != nil {
			return err
		}
	}
	return nil
}

// figures takes the figures of grade batch.
func (g *graded) figures(ctx context.Context, progress io.Writer) (f figures, err error) {
	f.count = len(g.class)
	if err := g.prepare(ctx); err != nil {
		return f, err
	}
	fmt.Fprintf(progress, "grade batch of %d submissions\n", f.count)
	if err := g.first(ctx, &f); err != nil {
		return f, err
	}
	if f.second, err = g.second(ctx); err != nil {
		return f, err
	}
	fmt.Fprintln(progress, "comparing the verdicts with the declared ones")
	f.mismatches, f.again, err = g.verdicts(ctx)
	return f, err
}

// first grades the whole class, and keeps accounts if the kernel allows it.
func (g *graded) first(ctx context.Context, f *figures) (err error) {
	account, refused := openAccount(g.at("account"))
	if f.took, err = g.batch(ctx, "students", "results", fmt.Sprintf("graded %d, cached 0, no verdict 0", len(g.class))); err != nil {
		return errors.Join(err, account.close())
	}
	if f.unbilled = refused; refused == nil {
		f.bill, f.unbilled = account.bill(g.last)
	}
	return g.take("results", g.class)
}

// second runs the same batch again, which must not grade anything.
func (g *graded) second(ctx context.Context) (time.Duration, error) {
	return g.batch(ctx, "students", "results", fmt.Sprintf("graded 0, cached %d, no verdict 0", len(g.class)))
}

// batch grades all submissions below a folder and returns the time that took.
func (g *graded) batch(ctx context.Context, students, results, wanted string) (time.Duration, error) {
	started := time.Now()
	out, err := g.command(ctx, "batch", g.at(students), "--results", g.at(results), "--quiet")
	took := time.Since(started)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if last := lines[len(lines)-1]; err == nil && last != wanted {
		err = fmt.Errorf("grade batch: %s, want %s", last, wanted)
	}
	return took, err
}

// command runs grade. After an interrupt it gives grade time to clean up.
func (g *graded) command(ctx context.Context, args ...string) (string, error) {
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, g.program, args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopTimeout
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, said.Bytes())
	}
	g.last = cmd.ProcessState.Pid()
	return out.String(), nil
}

// take reads the results of a class.
func (g *graded) take(results string, students []class.Submission) error {
	store, err := file.Open(g.at(results))
	if err != nil {
		return err
	}
	defer store.Close()
	for _, h := range students {
		r, ok := store.Last(h.Student, h.Exercise.Name)
		if !ok {
			return fmt.Errorf("grade batch has stored no result of %s %s", h.Student, h.Exercise.Name)
		}
		g.kept[h.Dir] = append(g.kept[h.Dir], r.Result)
	}
	return nil
}

// verdicts lists the submissions whose results are not as declared. A submission that
// differs once is graded a second time; again counts those.
func (g *graded) verdicts(ctx context.Context) (mismatches []string, again int, err error) {
	lists, shipped := map[string][]fixture.Submission{}, map[string]*prove.Fixtures{}
	for _, s := range g.submissions {
		lists[s.Exercise.Name] = append(lists[s.Exercise.Name], s.Submission)
	}
	for _, h := range g.class {
		if name := h.Exercise.Name; shipped[name] == nil {
			shipped[name] = prove.FixturesBy(h.Exercise, lists[name], g.result)
		}
		held, err := shipped[h.Exercise.Name].Hold(ctx, h.Submission, grader.Options{})
		if err != nil {
			return nil, 0, err
		}
		again += min(1, len(held.FirstMismatches))
		for _, d := range held.Mismatches {
			mismatches = append(mismatches, fmt.Sprintf("%s, %s %s: %s", h.Student, h.Exercise.Name, h.Name, d))
		}
	}
	return mismatches, again, nil
}

// result is the next that was kept of a submission, or that of a batch of it alone.
func (g *graded) result(ctx context.Context, s *submission.Snapshot, _ grader.Options) (*verdict.Result, error) {
	dir := s.Dir
	if len(g.kept[dir]) == 0 {
		i := slices.IndexFunc(g.submissions, func(s class.Shipped) bool { return s.Dir == dir })
		name := strings.ReplaceAll(dir, "/", "-")
		alone := class.Submission{Shipped: g.submissions[i], Student: "again", Files: g.submissions[i].Files}
		if err := alone.Write(g.at(name)); err != nil {
			return nil, err
		}
		defer os.RemoveAll(g.at(name))
		defer os.RemoveAll(g.at(name + ".results"))
		if _, err := g.batch(ctx, name, name+".results", "graded 1, cached 0, no verdict 0"); err != nil {
			return nil, err
		}
		if err := g.take(name+".results", []class.Submission{alone}); err != nil {
			return nil, err
		}
	}
	r := g.kept[dir][0]
	g.kept[dir] = g.kept[dir][1:]
	return r, nil
}
