package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// target is how many times as fast as the usual way, without a build cache, a batch
// shall be.
const target = 3

// barWidth is the length of a bar that stands for everything.
const barWidth = 32

// figures are those of grade batch.
type figures struct {
	count  int
	took   time.Duration
	second time.Duration // of another, which had nothing to do
	unmet  []string      // what is not as declared
	again  int           // submissions that were graded a second time
	bill   bill
	unpaid error // why there is no bill
}

// fault is what must not be.
func (f figures) fault() error {
	if len(f.unmet) == 0 {
		return nil
	}
	return errors.New("not as declared:\n" + strings.Join(f.unmet, "\n"))
}

func (f figures) String() string {
	var b strings.Builder
	b.WriteString(rate("b   grade batch, measuring too", f.count, f.took))
	fmt.Fprintf(&b, "\nverdicts as declared: %d of %d", f.count-len(f.unmet), f.count)
	if f.again > 0 {
		fmt.Fprintf(&b, ", %d of them when graded a second time", f.again)
	}
	fmt.Fprintf(&b, "\nanother grade batch, with nothing to grade: %v\n", f.second.Round(10*time.Millisecond))
	if f.unpaid != nil {
		fmt.Fprintf(&b, "\nwhere the time of the CPUs went was not measured: %v\n", f.unpaid)
		return b.String()
	}
	b.WriteString("\nwhere the time of the CPUs went during b:\n\n" + f.bill.String())
	return b.String()
}

func rate(label string, count int, took time.Duration) string {
	return fmt.Sprintf("  %-46s %6.1f a minute  (%d in %v)\n", label, float64(count)/took.Minutes(), count, took.Round(100*time.Millisecond))
}

// beside compares the usual way with a batch of the same submissions.
func (u theUsual) beside(f figures) string {
	var b strings.Builder
	b.WriteString(rate("u1  docker run of go test, empty build cache", f.count, u.empty))
	b.WriteString(rate("u2  docker run of go test, filled build cache", f.count, u.filled))
	fmt.Fprintf(&b, "  (-timeout %v, no benchmarks; %d MiB and %d processes a container; stopped after %v: %d)\n",
		usualTimeout, usualMemory>>20, usualPids, usualMost, u.stopped)
	ratio := u.empty.Seconds() / f.took.Seconds()
	word := "met"
	if ratio < target {
		word = "missed"
	}
	fmt.Fprintf(&b, "\nb/u1  %.2f  (target: at least %d, %s)\nb/u2  %.2f\n", ratio, target, word, u.filled.Seconds()/f.took.Seconds())
	return b.String()
}

// payer has a share of a bill.
type payer struct {
	name     string
	commands []string // a star at the end stands for more
}

var payers = []payer{
	{"compilers and tests", []string{"go", "compile", "asm", "link", "vet", "typed", "hidden.test"}},
	{"supervisor", []string{"supervisor"}},
	{"engine", []string{"dockerd", "containerd*", "runc*", "docker*", "fuse-overlayfs", "fusermount*", "exe"}},
	{"grade", []string{"grade*"}},
	{"other programs, kernel threads", []string{"*"}},
}

// bill says where the time of all CPUs went.
type bill struct {
	all, idle time.Duration
	items     []item // of payers
}

type item struct {
	cpu   time.Duration // at least
	ended int           // processes, of each of which up to two ticks are missing
}

func newBill(records []record, all, idle time.Duration) bill {
	b := bill{all: all, idle: idle, items: make([]item, len(payers))}
	for _, r := range records {
		i := b.add(r.command(), r.cpu())
		b.items[i].ended++
	}
	return b
}

// add puts CPU time on somebody's bill.
func (b *bill) add(command string, spent time.Duration) (which int) {
	for i, p := range payers {
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

// String has a line for each payer. What is left over is the kernel's own, and the
// parts of ticks that are missing from every process.
func (b bill) String() string {
	var s strings.Builder
	line := func(label string, cpu time.Duration, note string) {
		share := cpu.Seconds() / max(b.all, tick).Seconds()
		cells := max(0, min(barWidth, int(share*barWidth+0.5)))
		bar := strings.Repeat("█", cells) + strings.Repeat(" ", barWidth-cells)
		fmt.Fprintf(&s, "  %-30s %5.1f %%  %s  %s\n", label, 100*share, bar, note)
	}
	rest := b.all - b.idle
	for i, p := range payers {
		it := b.items[i]
		rest -= it.cpu
		most := min(2*tick*time.Duration(it.ended), b.all)
		line(p.name, it.cpu, fmt.Sprintf("%v, and up to %v more in %d processes", it.cpu.Round(tick), most.Round(tick), it.ended))
	}
	line("interrupts, parts of ticks", max(0, rest), "")
	line("idle", b.idle, "")
	return s.String()
}
