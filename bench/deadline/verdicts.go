//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"grade"
	"grade/exercises/course"
	"grade/grader/measure/quantile"
	"grade/service/client"
)

// more is how much longer a verdict may take through a service than without one.
const more = 300 * time.Millisecond

// compareVerdicts grades references by the service and without one, in turn. Each is handed
// in with a comment of its own, so that nothing was graded before.
func compareVerdicts(ctx context.Context, s *served, o options, out io.Writer) error {
	token, err := s.token(ctx)
	if err != nil {
		return err
	}
	for _, name := range []string{"logsumexp", "loader", "autograd"} {
		e, err := course.Open(grade.Course).Load(name)
		if err != nil {
			return err
		}
		var alone, served []time.Duration
		for i := range o.verdicts + 1 {
			dir, err := s.write(e, i)
			if err != nil {
				return err
			}
			a, b, err := s.both(ctx, token, name, dir, i)
			if err != nil {
				return err
			}
			if i > 0 { // the first one makes images and references
				alone, served = append(alone, a), append(served, b)
			}
		}
		slices.Sort(alone)
		slices.Sort(served)
		a, b := quantile.Median(alone), quantile.Median(served)
		fmt.Fprintf(out, "%-10s grade submit %v, through the service %v: %+v%s\n", name, short(a), short(b), short(b-a), target(b-a <= more))
	}
	return nil
}

// both times a grading without the service and one through it, in an order that alternates.
func (s *served) both(ctx context.Context, token, name, dir string, i int) (alone, through time.Duration, err error) {
	timed := func(into *time.Duration, args ...string) {
		began := time.Now()
		_, failed := s.command(ctx, []string{"GRADE_TOKEN=" + token}, append([]string{"submit", dir, "--exercise", name, "--quiet"}, args...)...)
		*into, err = time.Since(began), errors.Join(err, failed)
	}
	if i%2 == 0 {
		timed(&alone)
		timed(&through, "--server", s.address)
	} else {
		timed(&through, "--server", s.address)
		timed(&alone)
	}
	return alone, through, err
}

// write writes the reference of an exercise with a comment.
func (s *served) write(e *course.Exercise, i int) (dir string, err error) {
	dir = filepath.Join(s.dir, fmt.Sprintf("%s-%d", e.Name, i))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for _, f := range append(slices.Clone(e.Reference), course.File{Name: "own.go", Data: fmt.Appendf(nil, "package %s\n\n// number %d\n", e.Package, i)}) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// token lets a command line in, as a student.
func (s *served) token(ctx context.Context) (string, error) {
	const student = "ada"
	browsers, err := s.invite(ctx, []string{student})
	if err != nil {
		return "", err
	}
	c, err := client.New(s.address, "")
	if err != nil {
		return "", err
	}
	r, err := c.Ask(ctx, "bench")
	if err != nil {
		return "", err
	}
	answer, err := browsers[student].PostForm(s.address+"/devices/"+url.PathEscape(r.Code), nil)
	if err != nil {
		return "", err
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("let a command line in: %s", answer.Status)
	}
	g, err := c.Wait(ctx, r)
	return g.Token, err
}
