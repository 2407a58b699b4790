package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"grade/grader/measure/quantile"
)

// target is the highest ratio b/a that meets the goal.
const target = 1.5

// judgeTarget is the lowest ratio d/b that meets it.
const judgeTarget = 1.0

// fullTarget is the highest ratio of a whole grading to one of correctness alone.
const fullTarget = 2.5

// barWidth is the length of the longest bar of a table.
const barWidth = 32

// row is a line of a table.
type row struct {
	label       string
	median      time.Duration
	least, most time.Duration
}

func rowOf(label string, times []time.Duration) row {
	s := slices.Sorted(slices.Values(times))
	return row{label: label, median: quantile.Median(s), least: s[0], most: s[len(s)-1]}
}

// report prints the tables of a alone, or of all contenders.
func report(w io.Writer, times [][]time.Duration, p []phases) error {
	labels := []string{"a  go test -c and its tests, bare", "b  grade submit --only correctness", "c  a container with go test in it", "d  go-judge, already up"}
	var rows []row
	for i, t := range times {
		rows = append(rows, rowOf(labels[i], t))
	}
	var b strings.Builder
	table(&b, rows)
	if len(rows) > 2 {
		ratio := float64(rows[1].median) / float64(rows[0].median)
		fmt.Fprintf(&b, "\nb/a  %.2f  (target: at most %.1f, %s)\nc/b  %.2f\n", ratio, target, met(ratio <= target),
			float64(rows[2].median)/float64(rows[1].median))
		if len(rows) > 3 {
			ratio := float64(rows[3].median) / float64(rows[1].median)
			fmt.Fprintf(&b, "d/b  %.2f  (target: at least %.1f, %s)\n", ratio, judgeTarget, met(ratio >= judgeTarget))
		}
		fmt.Fprintf(&b, "\nwhere the time of b goes (build and start overlap):\n\n")
		table(&b, phaseRows(p[len(p)-len(times[1]):]))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func met(ok bool) string {
	if ok {
		return "met"
	}
	return "missed"
}

// reportFull prints, for each exercise, a grading of correctness and a whole one.
func reportFull(w io.Writer, names []string, times [][]time.Duration) error {
	var b strings.Builder
	for i, name := range names {
		few, all := rowOf(name+", correctness", times[2*i]), rowOf(name+", all", times[2*i+1])
		table(&b, []row{few, all})
		ratio := float64(all.median) / float64(few.median)
		fmt.Fprintf(&b, "  %.2f  (target: at most %.1f, %s)\n\n", ratio, fullTarget, met(ratio <= fullTarget))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// phaseRows returns a row for each phase, in order.
func phaseRows(p []phases) (rows []row) {
	add := func(label string, of func(phases) float64) {
		var times []time.Duration
		for _, g := range p {
			times = append(times, time.Duration(of(g)*float64(time.Millisecond)))
		}
		if slices.Max(times) > 0 {
			rows = append(rows, rowOf(label, times))
		}
	}
	add("snapshot", func(g phases) float64 { return g.SnapshotMs })
	add("vet", func(g phases) float64 { return g.VetMs })
	add("build", func(g phases) float64 { return g.BuildMs })
	add("start of both boxes", func(g phases) float64 { return g.StartMs })
	add("test", func(g phases) float64 { return g.TestMs })
	add("race", func(g phases) float64 { return g.RaceMs })
	add("measure", func(g phases) float64 { return g.MeasureMs })
	add("all of the grading", func(g phases) float64 { return g.TotalMs })
	add("before it and after it", func(g phases) float64 { return float64(g.wall)/float64(time.Millisecond) - g.TotalMs })
	return rows
}

// table prints rows with bars in proportion to the longest.
func table(w io.Writer, rows []row) {
	width, longest := 0, time.Duration(1)
	for _, r := range rows {
		width, longest = max(width, utf8.RuneCountInString(r.label)), max(longest, r.median)
	}
	for _, r := range rows {
		fmt.Fprintf(w, "  %-*s  %10s  %-*s  %s to %s\n", width, r.label, milliseconds(r.median), barWidth, bar(r.median, longest),
			milliseconds(r.least), milliseconds(r.most))
	}
}

// bar draws a bar in eighths of a cell, at least one eighth long.
func bar(d, longest time.Duration) string {
	eighths := max(1, int(int64(d)*barWidth*8/int64(longest)))
	s := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return s
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
