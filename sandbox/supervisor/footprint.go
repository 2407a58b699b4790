//go:build linux

package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
)

// footprintSlack is the growth, in bytes, at which the supervisor returns memory
// to the kernel. Returning less is not worth its time, a third of a small test's.
const footprintSlack = 512 << 10

// footprint keeps the supervisor's resident size out of the programs' peaks. A
// program starts as a process that shares the supervisor's memory, and the kernel
// counts that in the program's own peak (ru_maxrss survives exec): the output kept
// from one program would raise the peak of the next.
type footprint struct {
	reset *os.File // resets the supervisor's own peak; nil where the kernel has no such file
	base  int64    // resident bytes at the start, or after memory was last returned
}

// newFootprint opens the files that it needs. Call it before confine, which makes
// the supervisor's own files in /proc inaccessible.
func newFootprint() footprint {
	reset, _ := os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0)
	base, _ := resident(os.Getpid())
	return footprint{reset, base}
}

// shrink returns memory to the kernel and resets the peak. It runs before every
// program.
func (f *footprint) shrink() {
	if now, err := resident(os.Getpid()); err == nil && now > f.base+footprintSlack {
		debug.FreeOSMemory()
		if now, err = resident(os.Getpid()); err == nil {
			f.base = now // which includes the code that has run so far
		}
	}
	if f.reset != nil {
		_, _ = f.reset.WriteString("5") // CLEAR_REFS_MM_HIWATER_RSS
	}
}

// closeOnExec keeps inherited descriptors from the programs: the parent of the
// supervisor, or of grade, may have left some open.
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
