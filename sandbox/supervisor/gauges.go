//go:build linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"grade/sandbox"
)

// gauges reads the figures of the box's control group. Each figure has one file;
// a missing file leaves its figure out instead of falling back to another source. The
// files stay open, because the watchdog reads them a hundred times a second.
type gauges struct {
	version string // "v1", "v2", or "" for none
	clock   figures
	charge  figures // memory that is charged to the box now
	peak    figures
	limit   figures // on memory
	memory  figures // what happened for want of memory
	pids    figures // likewise of processes
	own     figures // the supervisor's own size
}

// reading holds the figures of all gauges at one moment.
type reading struct {
	source            sandbox.Source
	cpu               time.Duration
	peak              int64
	oomKills, pidsHit int
	limit             int64 // on memory, of the box
	met               int   // how often that was met without anything to reclaim
	hasCPU, hasPeak   bool
	hasOOM, hasPids   bool
	hasLimit, hasMet  bool
}

// detectGauges finds the version of the control groups mounted at root. Version 2
// has one tree with cgroup.controllers at its top, version 1 a directory for each
// controller. A hybrid machine mounts both and accounts in version 1.
func detectGauges(root string) gauges {
	if root == "" {
		return gauges{}
	}
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		return openV2(root)
	}
	if _, err := os.Stat(filepath.Join(root, "memory")); err == nil {
		return openV1(root)
	}
	return gauges{}
}

func openV1(root string) gauges {
	return gauges{
		version: "v1",
		clock:   openFigures(root, "cpuacct/cpuacct.usage"),
		charge:  openFigures(root, "memory/memory.usage_in_bytes"),
		peak:    openFigures(root, "memory/memory.max_usage_in_bytes"),
		limit:   openFigures(root, "memory/memory.limit_in_bytes"), // memory.failcnt stays 0 on newer kernels
		memory:  openFigures(root, "memory/memory.oom_control"),
		pids:    openFigures(root, "pids/pids.events"),
		own:     openFigures("/proc/self/statm"),
	}
}

func openV2(root string) gauges {
	return gauges{
		version: "v2",
		clock:   openFigures(root, "cpu.stat"),
		charge:  openFigures(root, "memory.current"),
		peak:    openFigures(root, "memory.peak"),
		limit:   openFigures(root, "memory.max"),
		memory:  openFigures(root, "memory.events"),
		pids:    openFigures(root, "pids.events"),
		own:     openFigures("/proc/self/statm"),
	}
}

// read reads all gauges once.
func (g gauges) read() reading {
	switch g.version {
	case "v1":
		return g.readV1()
	case "v2":
		return g.readV2()
	}
	return reading{}
}

func (g gauges) readV1() reading {
	r := reading{source: sandbox.SourceCgroupV1}
	g.readBoth(&r)
	return r
}

func (g gauges) readV2() reading {
	r := reading{source: sandbox.SourceCgroupV2}
	g.readBoth(&r)
	if v, ok := g.memory.keyed("oom"); ok {
		r.met, r.hasMet = int(v), true
	}
	return r
}

// readBoth reads what both versions have.
func (g gauges) readBoth(r *reading) {
	r.cpu, r.hasCPU = g.cpu()
	r.peak, r.hasPeak = g.peak.number()
	r.limit, r.hasLimit = g.limit.number()
	if v, ok := g.memory.keyed("oom_kill"); ok {
		r.oomKills, r.hasOOM = int(v), true
	}
	if v, ok := g.pids.keyed("max"); ok {
		r.pidsHit, r.hasPids = int(v), true
	}
}

// cpu reads the CPU time of everything that ever ran in the box.
func (g gauges) cpu() (time.Duration, bool) {
	switch g.version {
	case "v1":
		v, ok := g.clock.number()
		return time.Duration(v), ok
	case "v2":
		v, ok := g.clock.keyed("usage_usec")
		return time.Duration(v) * time.Microsecond, ok
	}
	return 0, false
}

// spending returns a function that reports the CPU time of everything in the box but
// the supervisor since; ok is false where the box has no account.
func (g gauges) spending() func() (spent time.Duration, ok bool) {
	before, was := g.cpu()
	own := ownCPU()
	return func() (time.Duration, bool) {
		now, is := g.cpu()
		return now - before - (ownCPU() - own), was && is
	}
}

// growth returns a function that reports by how much what is charged to the box, but
// not to the supervisor itself, has grown since; 0 where the box has no account. It
// holds what a process's resident size does not: the buffers of pipes, and pages that
// are mapped nowhere.
func (g gauges) growth() func() int64 {
	others := func() (int64, bool) {
		all, ok := g.charge.number()
		own, err := residentIn(g.own)
		return all - own, ok && err == nil
	}
	before, ok := others()
	return func() int64 {
		now, still := others()
		if !ok || !still {
			return 0
		}
		return max(0, now-before)
	}
}

// errMachineFull is a fault of the machine. The kernel counts in a box each kill for want of
// memory, also those for what others hold.
var errMachineFull = errors.New("the machine has no memory left: the kernel killed a program that was within its limit")

// machineFull reports whether the kernel has killed for want of memory, between two readings,
// in a box that surely did not meet its own limit.
func machineFull(before, after reading) bool {
	if !before.hasOOM || !after.hasOOM || after.oomKills <= before.oomKills {
		return false
	}
	counted, shown := before.hasMet && after.hasMet, after.hasPeak && after.hasLimit
	met := counted && after.met > before.met
	near := shown && after.peak >= after.limit-after.limit/8 // what was refused is not in the peak
	return (counted || shown) && !met && !near
}

// fill writes the differences between two readings into o. own is the
// supervisor's CPU time between them.
func fill(o *sandbox.Outcome, before, after reading, own time.Duration) {
	if before.hasCPU && after.hasCPU {
		o.BoxCPU, o.BoxCPUSource = max(after.cpu-before.cpu-own, 0), after.source
	}
	if after.hasPeak {
		o.BoxPeak, o.BoxPeakSource = after.peak, after.source
	}
	if before.hasOOM && after.hasOOM {
		o.OOMKills, o.OOMSource = max(after.oomKills-before.oomKills, 0), after.source
	}
	if before.hasPids && after.hasPids {
		o.PidsHit, o.PidsSource = max(after.pidsHit-before.pidsHit, 0), after.source
	}
}
