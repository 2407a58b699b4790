package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The lowest ratios that meet the goal: how many times as fast as the usual way a batch is.
const (
	emptyTarget  = 9   // without a build cache
	filledTarget = 2.5 // with one
)

// busyTarget is the least share of all CPUs' time in compilers and tests.
const busyTarget = 0.8

// barWidth is the length of a bar of 100 %.
const barWidth = 32

// figures holds the figures of grade batch.
type figures struct {
	count      int
	took       time.Duration
	second     time.Duration // time of a second batch, which has nothing to grade
	mismatches []string      // differences from the declared verdicts
	again      int           // submissions that were graded a second time
	bill       bill
	unbilled   error // reason why there is no bill
}

// fault returns the differences from the declared verdicts as an error.
func (f figures) fault() error {
	if len(f.mismatches) == 0 {
		return nil
	}
	return errors.New("not as declared:\n" + strings.Join(f.mismatches, "\n"))
}

func (f figures) String() string {
	var b strings.Builder
	b.WriteString(rate("b   grade batch, measuring too", f.count, f.took))
	fmt.Fprintf(&b, "\nverdicts as declared: %d of %d", f.count-len(f.mismatches), f.count)
	if f.again > 0 {
		fmt.Fprintf(&b, ", %d of them when graded a second time", f.again)
	}
	fmt.Fprintf(&b, "\na second grade batch, with nothing to grade: %v\n", f.second.Round(10*time.Millisecond))
	if f.unbilled != nil {
		fmt.Fprintf(&b, "\nCPU time by program was not measured: %v\n", f.unbilled)
		return b.String()
	}
	b.WriteString("\nCPU time by program during b:\n\n" + f.bill.String())
	return b.String()
}

func rate(label string, count int, took time.Duration) string {
	return fmt.Sprintf("  %-46s %6.1f a minute  (%d in %v)\n", label, float64(count)/took.Minutes(), count, took.Round(100*time.Millisecond))
}

// compare compares the usual way with a batch of the same submissions.
func (u usualTimes) compare(f figures) string {
	var b strings.Builder
	b.WriteString(rate("u1  docker run of go test, empty build cache", f.count, u.empty))
	b.WriteString(rate("u2  docker run of go test, filled build cache", f.count, u.filled))
	fmt.Fprintf(&b, "  (-timeout %v, no benchmarks; %d MiB and %d processes a container; stopped after %v: %d)\n",
		usualTimeout, usualMemory>>20, usualPids, usualMost, u.stopped)
	ratio := func(name string, usual time.Duration, target float64) {
		x := usual.Seconds() / f.took.Seconds()
		fmt.Fprintf(&b, "%s  %.2f  (target: at least %v, %s)\n", name, x, target, met(x >= target))
	}
	b.WriteString("\n")
	ratio("b/u1", u.empty, emptyTarget)
	ratio("b/u2", u.filled, filledTarget)
	return b.String()
}

func met(ok bool) string {
	if ok {
		return "met"
	}
	return "missed"
}

// billGroup is a group of commands whose CPU time is added up.
type billGroup struct {
	name     string
	commands []string // a star at the end matches any further characters
}

var billGroups = []billGroup{
	{"compilers and tests", []string{"go", "compile", "asm", "link", "vet", "typed", "hidden.test"}},
	{"supervisor", []string{"supervisor"}},
	{"engine", []string{"dockerd", "containerd*", "runc*", "docker*", "fuse-overlayfs", "fusermount*", "exe"}},
	{"grade", []string{"grade*"}},
	{"other programs, kernel threads", []string{"*"}},
}

// bill divides the time of all CPUs among groups of commands.
type bill struct {
	all, idle time.Duration
	items     []item // one for each of billGroups
}

type item struct {
	cpu   time.Duration // a lower bound
	ended int           // processes; each may lack up to two ticks
}

func newBill(records []record, all, idle time.Duration) bill {
	b := bill{all: all, idle: idle, items: make([]item, len(billGroups))}
	for _, r := range records {
		i := b.add(r.command(), r.cpu())
		b.items[i].ended++
	}
	return b
}

// add adds CPU time to the item of the command's group, and returns its index.
func (b *bill) add(command string, spent time.Duration) (which int) {
	for i, p := range billGroups {
		for _, c := range p.commands {
			start, more := strings.CutSuffix(c, "*")
			if command == c || more && strings.HasPrefix(command, start) {
				b.items[i].cpu += spent
				return i
			}
		}
	}
	return -1
}

// String has a line for each group. The rest is time of the kernel's own, and the parts
// of ticks that every process lacks.
func (b bill) String() string {
	var s strings.Builder
	line := func(label string, cpu time.Duration, note string) {
		share := cpu.Seconds() / max(b.all, tick).Seconds()
		cells := max(0, min(barWidth, int(share*barWidth+0.5)))
		bar := strings.Repeat("█", cells) + strings.Repeat(" ", barWidth-cells)
		fmt.Fprintf(&s, "  %-30s %5.1f %%  %s  %s\n", label, 100*share, bar, note)
	}
	rest := b.all - b.idle
	for i, p := range billGroups {
		it := b.items[i]
		rest -= it.cpu
		most := min(2*tick*time.Duration(it.ended), b.all)
		line(p.name, it.cpu, fmt.Sprintf("%v, and up to %v more in %d processes", it.cpu.Round(tick), most.Round(tick), it.ended))
	}
	line("interrupts, parts of ticks", max(0, rest), "")
	line("idle", b.idle, "")
	useful := b.items[0].cpu.Seconds() / max(b.all, tick).Seconds()
	fmt.Fprintf(&s, "\ncompilers and tests: at least %.0f %% of the CPUs (target: %.0f %%, %s)\n", 100*useful, 100*busyTarget, met(useful >= busyTarget))
	return s.String()
}
