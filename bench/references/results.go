package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"grade/grader/measure/quantile"
)

// reference names the contender that all others are compared with.
const reference = "reference"

// results holds the workloads of a package in order of appearance.
type results struct{ workloads []*workload }

type workload struct {
	name       string
	contenders []*contender
}

// contender holds the figures of one implementation of a workload, one for each round.
type contender struct {
	name   string
	ns     []float64 // nanoseconds an operation
	bytes  []float64 // bytes allocated in an operation
	allocs []float64
}

// read parses the result lines of go test -bench -benchmem:
//
//	BenchmarkChain/reference-2   10   104 ns/op   48 B/op   2 allocs/op
//	BenchmarkSum/rows/naive-2    10   104 ns/op   48 B/op   2 allocs/op
func (r *results) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name, who := split(strings.TrimPrefix(fields[0], "Benchmark"))
		if name == "" {
			continue // a benchmark without contenders is no comparison
		}
		c := r.contender(name, who)
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return fmt.Errorf("%q: %w", lines.Text(), err)
			}
			switch fields[i+1] {
			case "ns/op":
				c.ns = append(c.ns, v)
			case "B/op":
				c.bytes = append(c.bytes, v)
			case "allocs/op":
				c.allocs = append(c.allocs, v)
			}
		}
	}
	return lines.Err()
}

// split returns the workload and the contender of a benchmark's name, which ends with the
// number of CPUs if that is not 1.
func split(name string) (workload, who string) {
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			name = name[:i]
		}
	}
	i := strings.LastIndexByte(name, '/')
	return name[:max(0, i)], name[i+1:]
}

func (r *results) contender(name, who string) *contender {
	i := slices.IndexFunc(r.workloads, func(w *workload) bool { return w.name == name })
	if i < 0 {
		i = len(r.workloads)
		r.workloads = append(r.workloads, &workload{name: name})
	}
	w := r.workloads[i]
	i = slices.IndexFunc(w.contenders, func(c *contender) bool { return c.name == who })
	if i < 0 {
		i = len(w.contenders)
		w.contenders = append(w.contenders, &contender{name: who})
	}
	return w.contenders[i]
}

// print writes a table for every workload. A ratio above 1 means that a contender is
// slower than the reference.
func (r *results) print(out io.Writer, title string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", title)
	for _, w := range r.workloads {
		i := slices.IndexFunc(w.contenders, func(c *contender) bool { return c.name == reference })
		if i < 0 {
			return fmt.Errorf("benchmark %s has no contender called %q", w.name, reference)
		}
		ours := w.contenders[i]
		fmt.Fprintf(&b, "\n  %-28s %12s %8s %14s %12s\n", w.name, "time", "ratio", "bytes/op", "allocs/op")
		for _, c := range w.contenders {
			fmt.Fprintf(&b, "    %-26s %12s %7.2fx %14.0f %12.0f\n", c.name, time.Duration(median(c.ns)).Round(time.Nanosecond),
				median(c.ns)/median(ours.ns), median(c.bytes), median(c.allocs))
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// median is zero where nothing was reported: a benchmark need not count allocations.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return quantile.Median(slices.Sorted(slices.Values(values)))
}
