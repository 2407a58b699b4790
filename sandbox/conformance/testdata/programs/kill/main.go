// Command kill sends signals to its parent, the supervisor, by every system call
// there is, and prints the kernel's answers. It tries other processes with signal 0.
package main

import (
	"encoding/json"
	"os"
	"syscall"
	"unsafe"
)

func main() {
	parent := uintptr(os.Getppid())
	said := map[string]int{}
	call := func(name string, nr, a, b, c, d uintptr) {
		_, _, errno := syscall.RawSyscall6(nr, a, b, c, d, 0, 0)
		said[name] = int(errno)
	}
	info := [128]byte{}
	p := uintptr(unsafe.Pointer(&info))
	call("kill", syscall.SYS_KILL, parent, uintptr(syscall.SIGKILL), 0, 0)
	call("kill stop", syscall.SYS_KILL, parent, uintptr(syscall.SIGSTOP), 0, 0)
	call("tkill", syscall.SYS_TKILL, parent, uintptr(syscall.SIGKILL), 0, 0)
	call("tgkill", syscall.SYS_TGKILL, parent, parent, uintptr(syscall.SIGKILL), 0)
	call("rt_sigqueueinfo", syscall.SYS_RT_SIGQUEUEINFO, parent, uintptr(syscall.SIGKILL), p, 0)
	call("ptrace", syscall.SYS_PTRACE, 16 /* PTRACE_ATTACH */, parent, 0, 0)
	all := ^uintptr(0)
	call("kill all", syscall.SYS_KILL, all, 0, 0, 0)
	call("kill a group", syscall.SYS_KILL, -parent, 0, 0, 0)
	call("kill self", syscall.SYS_KILL, uintptr(os.Getpid()), 0, 0, 0)
	if fd, _, errno := syscall.RawSyscall(434 /* pidfd_open */, parent, 0, 0); errno == 0 {
		call("pidfd_send_signal", 424, fd, uintptr(syscall.SIGKILL), 0, 0)
	} else {
		said["pidfd_send_signal"] = int(errno)
	}
	json.NewEncoder(os.Stdout).Encode(said)
}
