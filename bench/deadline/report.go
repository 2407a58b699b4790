//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"grade/grader/measure/quantile"
	"grade/grader/results"
	"grade/grader/results/file"
)

// What the service has to hold.
const (
	ackMost  = 2 * time.Second        // each upload
	pageMost = 200 * time.Millisecond // pages, the 95th percentile
)

// report exports the results, and writes what was seen.
func (r *rushed) report(ctx context.Context, s *served, o options, out io.Writer) error {
	dir := o.results
	if dir == "" {
		dir = filepath.Join(s.dir, "results")
	}
	if _, err := s.command(ctx, nil, "serve", "export", dir, "--data", s.data()); err != nil {
		return err
	}
	store, err := file.Read(dir)
	if err != nil {
		return err
	}
	others, own := waits(store.Attempts())
	if err := r.seen(o, out); err != nil {
		return err
	}
	if len(others) == 0 {
		return errors.New("none of the class has a verdict")
	}
	line(out, fmt.Sprintf("%d verdicts of the class", len(others)), others, true)
	fmt.Fprintf(out, "%d gradings of the eager one's %d uploads; all graded after %v\n", own, o.eager, short(r.graded))
	return r.missing(store.Attempts(), o)
}

// seen writes what does not wait for verdicts: acknowledgements, pages and memory.
func (r *rushed) seen(o options, out io.Writer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.acks) == 0 || len(r.pages) == 0 {
		return fmt.Errorf("%d uploads acknowledged, %d pages seen: %q", len(r.acks), len(r.pages), r.refused)
	}
	fmt.Fprintf(out, "%d uploads within %v, %d gradings at a time, %s, %d CPUs\n", len(r.acks)+len(r.refused), o.over, o.workers, runtime.Version(), runtime.NumCPU())
	line(out, fmt.Sprintf("%d acknowledged", len(r.acks)), r.acks, slices.Max(r.acks) <= ackMost)
	slices.Sort(r.pages)
	line(out, fmt.Sprintf("%d pages", len(r.pages)), r.pages, quantile.Of(r.pages, 0.95) <= pageMost)
	fmt.Fprintf(out, "memory of the service: %.0f MiB at first, %.0f at most; medians of each tenth of the time: %s\n", r.memory[0], slices.Max(r.memory), tenths(r.memory))
	for _, why := range r.refused {
		fmt.Fprintln(out, "refused:", why)
	}
	return nil
}

// line writes what times are like.
func line(out io.Writer, what string, list []time.Duration, met bool) {
	slices.Sort(list)
	fmt.Fprintf(out, "%-28s median %8v  95 %% %8v  most %8v%s\n", what, short(quantile.Median(list)), short(quantile.Of(list, 0.95)), short(list[len(list)-1]), target(met))
}

// tenths are the medians of each tenth of a series. A leak makes them grow to the end.
func tenths(series []float64) string {
	var medians []string
	for part := range slices.Chunk(slices.Clone(series), (len(series)+9)/10) {
		slices.Sort(part)
		medians = append(medians, fmt.Sprintf("%.0f", quantile.Median(part)))
	}
	return strings.Join(medians, " ")
}

// waits are the times from upload to verdict of the class, and the number of gradings that
// the eager student got.
func waits(all []results.Record) (others []time.Duration, own int) {
	for _, a := range all {
		if a.Student == eager {
			own++
			continue
		}
		others = append(others, a.Recorded.Sub(a.Submitted))
	}
	return others, own
}

// missing finds acknowledged uploads of the class without their one result.
func (r *rushed) missing(all []results.Record, o options) error {
	of := map[string]int{}
	for _, a := range all {
		of[a.Student]++
	}
	delete(of, eager)
	for student, n := range of {
		if n != 1 {
			return fmt.Errorf("%s has %d results", student, n)
		}
	}
	if most := len(r.acks) - o.eager; len(of) < most {
		return fmt.Errorf("%d students have a result, and at least %d uploads of theirs were acknowledged", len(of), most)
	}
	return nil
}

func target(met bool) string {
	if met {
		return ""
	}
	return "  MISSED"
}

func short(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(10 * time.Millisecond)
}
