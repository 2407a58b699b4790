//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"grade/grader/measure/quantile"
	"grade/grader/results"
	"grade/grader/results/file"
)

// What the service has to hold.
const (
	ackMost   = 2 * time.Second        // each upload
	pageMost  = 200 * time.Millisecond // pages, the 95th percentile
	growsMost = 1.2                    // memory: the most of the second half of the time against that of the first
)

// errMissed says that a line of the report does not hold.
var errMissed = errors.New("what is MISSED does not hold")

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
	seen := r.seen(o, out)
	if len(others) == 0 {
		return errors.New("none of the class has a verdict")
	}
	line(out, fmt.Sprintf("%d verdicts of the class", len(others)), others, true)
	fmt.Fprintf(out, "%d gradings of the eager one's %d uploads; all graded after %v\n", own, o.eager, short(r.graded))
	most := overtaken(store.Attempts())
	fair := most <= 2*o.workers // as many may begin at one time, and their uploads have come at one time
	fmt.Fprintf(out, "order: no upload was overtaken by more than %d later ones%s\n", most, target(fair))
	if !fair {
		seen = errMissed
	}
	return errors.Join(seen, r.missing(store.Attempts()))
}

// seen writes what does not wait for verdicts: acknowledgements, pages and memory.
func (r *rushed) seen(o options, out io.Writer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	answers := slices.Concat(slices.Collect(maps.Values(r.acks))...)
	taken := len(answers)
	answers = append(answers, r.invalid...)
	during, after := r.pagesTook()
	if taken == 0 || len(during) == 0 {
		return fmt.Errorf("%d uploads acknowledged, %d pages seen: %q", taken, len(during), r.failed)
	}
	quick, prompt, steady := slices.Max(answers) <= ackMost, p95(during) <= pageMost, flat(r.memory)
	fmt.Fprintf(out, "%d uploads within %v, %d gradings at a time, %s, %d CPUs\n", len(answers), o.over, o.workers, runtime.Version(), runtime.NumCPU())
	line(out, fmt.Sprintf("%d acknowledged, %d invalid", taken, len(r.invalid)), answers, quick)
	line(out, fmt.Sprintf("%d pages meanwhile", len(during)), during, prompt)
	if len(after) > 0 {
		line(out, fmt.Sprintf("%d pages after that", len(after)), after, true)
	}
	fmt.Fprintf(out, "memory of the service: %.0f MiB at first, %.0f at most; medians of each tenth of the time: %.0f%s\n", r.memory[0], slices.Max(r.memory), tenths(r.memory), target(steady))
	for _, why := range r.failed {
		fmt.Fprintln(out, "MISSED:", why)
	}
	if !quick || !prompt || !steady || len(r.failed) > 0 {
		return errMissed
	}
	return nil
}

// pagesTook are the times of pages until the last upload, and after it.
func (r *rushed) pagesTook() (during, after []time.Duration) {
	for _, p := range r.pages {
		if p.at <= r.handedIn {
			during = append(during, p.took)
		} else {
			after = append(after, p.took)
		}
	}
	return during, after
}

func p95(list []time.Duration) time.Duration {
	slices.Sort(list)
	return quantile.Of(list, 0.95)
}

// line writes what times are like.
func line(out io.Writer, what string, list []time.Duration, met bool) {
	slices.Sort(list)
	fmt.Fprintf(out, "%-32s median %8v  95 %% %8v  most %8v%s\n", what, short(quantile.Median(list)), short(quantile.Of(list, 0.95)), short(list[len(list)-1]), target(met))
}

// tenths are the medians of each tenth of a series. A leak makes them grow to the end.
func tenths(series []float64) (medians []float64) {
	for part := range slices.Chunk(slices.Clone(series), (len(series)+9)/10) {
		slices.Sort(part)
		medians = append(medians, quantile.Median(part))
	}
	return medians
}

// flat reports whether a series does not grow in the second half of its time.
func flat(series []float64) bool {
	m := tenths(series)
	half := (len(m) + 1) / 2
	return half == len(m) || slices.Max(m[half:]) <= growsMost*slices.Max(m[:half])
}

// overtaken is the most later uploads that began to be graded before an earlier one.
func overtaken(all []results.Record) (most int) {
	slices.SortFunc(all, func(a, b results.Record) int { return a.Submitted.Compare(b.Submitted) })
	for i, a := range all {
		n := 0
		for _, b := range all[i+1:] {
			if begun(b).Before(begun(a)) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// begun is when the grading of an upload began.
func begun(r results.Record) time.Time {
	return r.Recorded.Add(-time.Duration(r.Result.Phases.TotalMs * float64(time.Millisecond)))
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
func (r *rushed) missing(all []results.Record) error {
	of := map[string]int{}
	for _, a := range all {
		of[a.Student]++
	}
	for student := range r.acks {
		if n := of[student]; n != 1 && student != eager {
			return fmt.Errorf("%s has %d results of an upload that was acknowledged", student, n)
		}
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
