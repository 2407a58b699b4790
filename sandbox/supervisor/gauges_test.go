//go:build linux

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"grade/sandbox"
)

// The trees below testdata/cgroup have the files that a container sees, before
// and after a program that ran out of memory. Those of version 1 began as copies
// from a container; those of version 2, of kernels with and without memory.peak,
// follow the kernel's documentation (Documentation/admin-guide/cgroup-v2.rst) and
// should be replaced by real recordings.

func TestDetectGauges(t *testing.T) {
	for root, want := range map[string]string{
		"testdata/cgroup/v1/before": "v1", "testdata/cgroup/v2/before": "v2", "testdata/cgroup/v2-5.15": "v2",
		"testdata/cgroup/hybrid": "v1", "testdata": "", "testdata/nothing": "", "": "",
	} {
		assert.Equal(t, want, detectGauges(root).version, root)
	}
}

func TestGaugesBetweenTwoReadings(t *testing.T) {
	const own = 300 * time.Millisecond
	for version, want := range map[string]sandbox.Outcome{
		"v1": {
			BoxCPU: 5843987102 - 28605173 - own, BoxCPUSource: sandbox.SourceCgroupV1, BoxPeak: 67108864, BoxPeakSource: sandbox.SourceCgroupV1,
			OOMKills: 1, OOMSource: sandbox.SourceCgroupV1, PidsHit: 3, PidsSource: sandbox.SourceCgroupV1,
		},
		"v2": {
			BoxCPU: (5843987-1843211)*time.Microsecond - own, BoxCPUSource: sandbox.SourceCgroupV2, BoxPeak: 289406976, BoxPeakSource: sandbox.SourceCgroupV2,
			OOMKills: 1, OOMSource: sandbox.SourceCgroupV2, PidsHit: 3, PidsSource: sandbox.SourceCgroupV2,
		},
	} {
		before, after := detectGauges("testdata/cgroup/"+version+"/before").read(), detectGauges("testdata/cgroup/"+version+"/after").read()
		var o sandbox.Outcome
		fill(&o, before, after, own)
		assert.Equal(t, want, o, version)

		fill(&o, after, before, own)
		assert.Zero(t, o.BoxCPU, "a gauge that runs backwards counts nothing")
		assert.Zero(t, o.OOMKills)
		assert.Zero(t, o.PidsHit)
	}
}

// A figure that the kernel does not show stays out, and has no other source.
func TestMissingGauges(t *testing.T) {
	old := detectGauges("testdata/cgroup/v2-5.15").read()
	assert.False(t, old.hasPeak, "memory.peak came with Linux 5.19")
	assert.True(t, old.hasCPU && old.hasOOM && old.hasPids)
	var o sandbox.Outcome
	fill(&o, old, old, 0)
	assert.Zero(t, o.BoxPeak)
	assert.Zero(t, o.BoxPeakSource)
	assert.Equal(t, sandbox.SourceCgroupV2, o.BoxCPUSource)

	for _, root := range []string{"testdata/cgroup/broken", ""} {
		r := detectGauges(root).read()
		o = sandbox.Outcome{}
		fill(&o, r, r, 0)
		assert.Zero(t, o, root)
	}
}

// Without a control group, the watchdog's figures stay.
func TestGaugesKeepTheWatchdogsFigures(t *testing.T) {
	o := sandbox.Outcome{OOMKills: 1, OOMSource: sandbox.SourceWatchdog}
	fill(&o, reading{}, reading{}, 0)
	assert.Equal(t, sandbox.Outcome{OOMKills: 1, OOMSource: sandbox.SourceWatchdog}, o)
}

// The kernel counts in a box whatever it kills there for want of memory. That is the
// program's doing only where the box has met its own limit.
func TestMachineFull(t *testing.T) {
	v1 := func(kills int, peak int64) reading {
		return reading{hasOOM: true, oomKills: kills, hasPeak: true, peak: peak, hasLimit: true, limit: 800}
	}
	v2 := func(kills, met int) reading { return reading{hasOOM: true, oomKills: kills, hasMet: true, met: met} }
	both := v1(1, 100)
	both.hasMet, both.met = true, 1
	for name, c := range map[string]struct {
		before, after reading
		want          bool
	}{
		"far below its limit":       {v1(0, 50), v1(1, 699), true},
		"at its limit":              {v1(0, 50), v1(1, 700), false},
		"killed before":             {v1(1, 50), v1(1, 60), false},
		"its limit was not met":     {v2(0, 0), v2(1, 0), true},
		"its limit was met":         {v2(0, 0), v2(1, 1), false},
		"its limit was met before":  {v2(0, 3), v2(1, 3), true},
		"met, by one of two counts": {v2(0, 0), both, false},
		"neither is known":          {reading{hasOOM: true}, reading{hasOOM: true, oomKills: 1}, false},
		"nothing counts":            {reading{}, reading{}, false},
	} {
		assert.Equal(t, c.want, machineFull(c.before, c.after), name)
	}
	for _, version := range []string{"v1", "v2"} {
		before, after := detectGauges("testdata/cgroup/"+version+"/before").read(), detectGauges("testdata/cgroup/"+version+"/after").read()
		assert.True(t, after.hasLimit, version)
		assert.False(t, machineFull(before, after), version)
		after.met, after.peak = before.met, after.limit/2
		assert.True(t, machineFull(before, after), version)
	}
}
