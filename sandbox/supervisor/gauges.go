//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"grade/sandbox"
)

// gauges reads the figures of the box's control group. Each figure has one file;
// a missing file leaves its figure out instead of falling back to another source.
type gauges struct {
	root    string
	version string // "v1", "v2", or "" for none
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
		return gauges{root: root, version: "v2"}
	}
	if _, err := os.Stat(filepath.Join(root, "memory")); err == nil {
		return gauges{root: root, version: "v1"}
	}
	return gauges{}
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
	r.cpu, r.hasCPU = g.cpu()
	r.peak, r.hasPeak = g.number("memory/memory.max_usage_in_bytes")
	if v, ok := g.keyed("memory/memory.oom_control", "oom_kill"); ok {
		r.oomKills, r.hasOOM = int(v), true
	}
	r.limit, r.hasLimit = g.number("memory/memory.limit_in_bytes") // memory.failcnt stays 0 on newer kernels
	if v, ok := g.keyed("pids/pids.events", "max"); ok {
		r.pidsHit, r.hasPids = int(v), true
	}
	return r
}

func (g gauges) readV2() reading {
	r := reading{source: sandbox.SourceCgroupV2}
	r.cpu, r.hasCPU = g.cpu()
	r.peak, r.hasPeak = g.number("memory.peak")
	if v, ok := g.keyed("memory.events", "oom_kill"); ok {
		r.oomKills, r.hasOOM = int(v), true
	}
	if v, ok := g.keyed("memory.events", "oom"); ok {
		r.met, r.hasMet = int(v), true
	}
	r.limit, r.hasLimit = g.number("memory.max")
	if v, ok := g.keyed("pids.events", "max"); ok {
		r.pidsHit, r.hasPids = int(v), true
	}
	return r
}

// cpu reads the CPU time of everything that ever ran in the box.
func (g gauges) cpu() (time.Duration, bool) {
	switch g.version {
	case "v1":
		v, ok := g.number("cpuacct/cpuacct.usage")
		return time.Duration(v), ok
	case "v2":
		v, ok := g.keyed("cpu.stat", "usage_usec")
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

// held reads what is charged to the box now.
func (g gauges) held() (int64, bool) {
	switch g.version {
	case "v1":
		return g.number("memory/memory.usage_in_bytes")
	case "v2":
		return g.number("memory.current")
	}
	return 0, false
}

// growth returns a function that reports by how much what is charged to the box, but
// not to the supervisor itself, has grown since; 0 where the box has no account. It
// holds what a process's resident size does not: the buffers of pipes, and pages that
// are mapped nowhere.
func (g gauges) growth() func() int64 {
	others := func() (int64, bool) {
		all, ok := g.held()
		own, err := resident(os.Getpid())
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

// number reads a file that holds one number.
func (g gauges) number(name string) (int64, bool) {
	b, err := os.ReadFile(filepath.Join(g.root, name))
	if err != nil {
		return 0, false
	}
	v, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return v, err == nil
}

// keyed reads the number behind a key of a "key number" file.
func (g gauges) keyed(name, key string) (int64, bool) {
	b, err := os.ReadFile(filepath.Join(g.root, name))
	if err != nil {
		return 0, false
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		if k, v, ok := strings.Cut(lines.Text(), " "); ok && k == key {
			n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
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
