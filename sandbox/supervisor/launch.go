//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// launch is the last step before a program: what has to be set from within the
// new process, by the new process's user, and what Go's own StartProcess has no
// word for. What goes wrong before the program takes over is written to the
// status descriptor, which the program itself never sees: an exit status could
// be the program's own.
//
//	supervisor launch STATUS-FD many|single FILE-SIZE PATH ARGS...
func launch(args []string) int {
	if len(args) < 4 {
		return 2
	}
	fd, err := strconv.Atoi(args[0])
	if err != nil {
		return 2
	}
	syscall.CloseOnExec(fd)
	status := os.NewFile(uintptr(fd), "status")
	fileSize, err := strconv.ParseUint(args[2], 10, 64)
	if err == nil {
		err = takeOver(args[1] == "single", fileSize, args[3:])
	}
	_, _ = status.WriteString(err.Error())
	return 1
}

// takeOver returns only when it cannot become the program.
func takeOver(single bool, fileSize uint64, args []string) error {
	// The kernel's choice when the box is out of memory shall be the program.
	// Raising one's own score needs no right.
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fmt.Errorf("no core dumps: %w", err)
	}
	if fileSize > 0 {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: fileSize, Max: fileSize}); err != nil {
			return fmt.Errorf("limit the size of files: %w", err)
		}
	}
	// Rights and filters hold for the thread that takes them on, and that thread
	// is the one that becomes the program.
	runtime.LockOSThread()
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("no new privileges: %w", errno)
	}
	if single {
		if err := install(singleProcess(machine, uint32(os.Getpid()))); err != nil {
			return fmt.Errorf("seccomp: %w", err)
		}
	}
	return fmt.Errorf("%s: %w", args[0], syscall.Exec(args[0], args, os.Environ()))
}
