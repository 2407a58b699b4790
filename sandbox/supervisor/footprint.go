//go:build linux

package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
)

// footprintSlack is how much larger than after the last time we may be before
// memory is given back, in bytes: less is not worth the time, a third of that of a
// small test, and not a program's matter.
const footprintSlack = 512 << 10

// footprint keeps us small where it shows. A program starts as a process that
// shares our memory, and the kernel counts the peak of that as the program's
// own (ru_maxrss outlives exec): the outputs that we held for the one before
// would be the next one's peak.
type footprint struct {
	reset *os.File // forgets our own peak; nil where the kernel has no such file
	base  int64    // resident bytes at first, and when memory was last given back
}

// newFootprint has to come before confine, which takes our own files in /proc
// away from us.
func newFootprint() footprint {
	reset, _ := os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0)
	base, _ := resident(os.Getpid())
	return footprint{reset, base}
}

// shrink comes before every program.
func (f *footprint) shrink() {
	if now, err := resident(os.Getpid()); err == nil && now > f.base+footprintSlack {
		debug.FreeOSMemory()
		if now, err = resident(os.Getpid()); err == nil {
			f.base = now // our code among it, as far as it has run by now
		}
	}
	if f.reset != nil {
		_, _ = f.reset.WriteString("5") // CLEAR_REFS_MM_HIWATER_RSS
	}
}

// closeOnExec keeps descriptors that we inherited from going on to programs: who
// started us, or who started grade, may have left some open.
func closeOnExec() error {
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		return err
	}
	for _, name := range open {
		if fd, err := strconv.Atoi(filepath.Base(name)); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}
