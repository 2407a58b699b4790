//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// Numbers of the kernel's interface that package syscall lacks (linux/prctl.h,
// linux/time.h). All are the same on every architecture.
const (
	prSetDumpable       = 4
	prSetChildSubreaper = 36
	cpuClockSched       = 2 // CPUCLOCK_SCHED: user and system time
)

// maxCPUs exceeds the largest number of CPUs that a kernel can be built for.
const maxCPUs = 16384

// confine makes the supervisor opaque to programs, and the parent of every
// orphan, which process 1 is anyway.
func confine() error {
	for _, option := range []uintptr{prSetChildSubreaper, prSetDumpable} {
		value := uintptr(1)
		if option == prSetDumpable {
			value = 0
		}
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, value, 0, 0, 0, 0); errno != 0 {
			return fmt.Errorf("prctl %d: %w", option, errno)
		}
	}
	return nil
}

// cpuTime reads the CPU clock of a process, all its threads together. The clock's
// number is made from the complement of the process's (clock_getcpuclockid).
func cpuTime(pid int) (time.Duration, error) {
	clock := uintptr(int64(^pid)<<3 | cpuClockSched)
	var ts syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		return 0, errno
	}
	return time.Duration(ts.Nano()), nil
}

// ownCPU returns the supervisor's own CPU time.
func ownCPU() time.Duration {
	t, err := cpuTime(os.Getpid())
	if err != nil {
		return 0
	}
	return t
}

// resident returns the current resident size of a process, in bytes.
func resident(pid int) (int64, error) {
	size, err := residentAt(statm(pid))
	if size > 0 || err != nil {
		return size, err
	}
	return residentInThreads(pid), nil
}

// resident is the function of that name for a program, whose file is open.
func (p *program) resident() (int64, error) {
	if p.statm == (figures{}) { // it could not be opened, which must not cost the limit
		return resident(p.process.Pid)
	}
	size, err := residentIn(p.statm)
	if size > 0 || err != nil {
		return size, err
	}
	return residentInThreads(p.process.Pid), nil
}

func statm(pid int) string { return fmt.Sprintf("/proc/%d/statm", pid) }

// residentInThreads is the size of a process whose first thread has ended: the kernel says 0
// of the process then, and its size at each other thread.
func residentInThreads(pid int) (size int64) {
	for _, name := range inEach(fmt.Sprintf("/proc/%d/task", pid), "statm") {
		if at, err := residentAt(name); err == nil { // or it has ended
			size = max(size, at)
		}
	}
	return size
}

// residentAt reads a statm once.
func residentAt(statm string) (int64, error) {
	var buf [figuresMax]byte
	b, err := glance(statm, &buf)
	if err != nil {
		return 0, err
	}
	return residentOf(b)
}

// residentIn reads one that is open.
func residentIn(statm figures) (int64, error) {
	var buf [figuresMax]byte
	b, err := statm.look(&buf)
	if err != nil {
		return 0, err
	}
	return residentOf(b)
}

// residentOf is the second number of a statm, which counts pages.
func residentOf(b []byte) (int64, error) {
	pages, ok := parse(word(b, 1))
	if !ok {
		return 0, errors.New("statm is too short")
	}
	return pages * int64(os.Getpagesize()), nil
}

// allowedCPUs asks the kernel which CPUs the supervisor may use.
func allowedCPUs() ([]int, error) {
	var mask [1024]byte // the kernel refuses one that is too short for the machine
	n, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, uintptr(len(mask)), uintptr(unsafe.Pointer(&mask)))
	if errno != 0 {
		return nil, fmt.Errorf("ask for the allowed CPUs: %w", errno)
	}
	var cpus []int
	for cpu := range 8 * int(n) {
		if mask[cpu/8]&(1<<(cpu%8)) != 0 {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// setAffinity moves every thread of the supervisor to one CPU. A new thread
// inherits from the thread that starts it, so the list is read until it is stable.
func setAffinity(cpu int) error {
	if cpu < 0 || cpu >= maxCPUs {
		return errors.New("no such CPU")
	}
	var mask [maxCPUs / 8]byte
	mask[cpu/8] |= 1 << (cpu % 8)
	moved := map[string]bool{}
	for again := true; again; {
		again = false
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, t := range tasks {
			if moved[t.Name()] {
				continue
			}
			tid, err := strconv.Atoi(t.Name())
			if err != nil {
				return err
			}
			_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(tid), uintptr(len(mask)), uintptr(unsafe.Pointer(&mask)))
			if errno != 0 && errno != syscall.ESRCH {
				return errno
			}
			moved[t.Name()], again = true, true
		}
	}
	return nil
}

// tmpfsMagic is the type of a file system that lives in memory (linux/magic.h).
const tmpfsMagic = 0x01021994

// tmpfsGrowth returns a function that reports how many bytes the file system of
// dir has grown since. A tmpfs takes memory, which a program can fill from there;
// a disk does not, and counts 0.
func tmpfsGrowth(dir string) func() int64 {
	used := func() int64 {
		var fs syscall.Statfs_t
		if err := syscall.Statfs(dir, &fs); err != nil || fs.Type != tmpfsMagic {
			return 0
		}
		return int64(fs.Blocks-fs.Bfree) * int64(fs.Bsize)
	}
	before := used()
	return func() int64 { return max(0, used()-before) }
}
