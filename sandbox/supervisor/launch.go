//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// launch turns a new process into the program. It makes the settings that must be
// made from within, as the program's user, and that os.StartProcess does not
// offer. It writes errors to the status descriptor, which the program itself
// never sees; an exit status could not be told from the program's own.
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
	// With this score the kernel kills the program first when the box is out of
	// memory. Raising it needs no privilege.
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
	// Privileges and filters belong to a thread, and this thread becomes the program.
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
