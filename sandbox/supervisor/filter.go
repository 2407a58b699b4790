//go:build linux

package main

import (
	"runtime"
	"slices"
	"syscall"
	"unsafe"
)

// Constants of the kernel's seccomp filters (linux/bpf_common.h, linux/seccomp.h).
const (
	bpfLoad       = 0x20 // BPF_LD|BPF_W|BPF_ABS
	bpfJumpEqual  = 0x15 // BPF_JMP|BPF_JEQ|BPF_K
	bpfJumpSet    = 0x45 // BPF_JMP|BPF_JSET|BPF_K
	bpfReturn     = 0x06 // BPF_RET|BPF_K
	seccompAllow  = 0x7fff0000
	seccompErrno  = 0x00050000
	offsetNumber  = 0  // of struct seccomp_data
	offsetArch    = 4  //
	offsetArg0Low = 16 // on little-endian machines, the only ones supported
	offsetArg1Low = 24
	offsetArg3Low = 40
	cloneThread   = 0x00010000
	prSetSeccomp  = 22
	prNoNewPrivs  = 38
	seccompFilter = 2
	x32Bit        = 0x40000000

	sysClone3 = 435 // the same on every architecture

	// notPrivate are mmap's flags for memory that no account of the program shows: MAP_SHARED,
	// MAP_SHARED_VALIDATE, MAP_DROPPABLE, and MAP_HUGETLB, where a machine has such pages.
	notPrivate = 0x01 | 0x08 | 0x40000

	prSetName = 15
	prGetName = 16
)

type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

// calls lists the numbers of an architecture's system calls that a filter needs. A call
// that is in no list is refused.
type calls struct {
	arch    uint32   // AUDIT_ARCH_*
	clone   uint32   // makes a process or a thread, depending on its flags
	signal  []uint32 // send a signal to the process in the first argument
	mmap    uint32   // with its flags in the fourth argument
	fcntl   uint32   // with its command in the second
	prctl   uint32   // with what it sets in the first
	allowed []uint32 // whatever their arguments
}

// descriptorCommands are what a program may ask of fcntl: nothing that the kernel would keep
// memory for, as it does for locks and large pipes.
var descriptorCommands = []uint32{syscall.F_DUPFD, syscall.F_GETFD, syscall.F_SETFD, syscall.F_GETFL, syscall.F_SETFL, syscall.F_DUPFD_CLOEXEC}

// everywhere are the calls of every architecture that a Go program makes: for memory, threads,
// time, signals, and files in its scratch space. None holds memory that the process's
// resident size and the scratch space do not show, but for descriptors and pipes, which
// Go's runtime needs and the limit on descriptors bounds, and for epoll's watches, which the
// box's account of memory shows and the kernel bounds for each user.
var everywhere = []uint32{
	syscall.SYS_READ, syscall.SYS_WRITE, syscall.SYS_CLOSE, syscall.SYS_FSTAT, syscall.SYS_LSEEK,
	syscall.SYS_PREAD64, syscall.SYS_PWRITE64, syscall.SYS_READV, syscall.SYS_WRITEV, syscall.SYS_DUP, syscall.SYS_DUP3, syscall.SYS_PIPE2,
	syscall.SYS_OPENAT, syscall.SYS_FACCESSAT, syscall.SYS_READLINKAT, syscall.SYS_UNLINKAT, syscall.SYS_MKDIRAT, syscall.SYS_RENAMEAT, syscall.SYS_SYMLINKAT, syscall.SYS_LINKAT, syscall.SYS_MKNODAT,
	syscall.SYS_GETDENTS64, syscall.SYS_GETCWD, syscall.SYS_CHDIR, syscall.SYS_FCHDIR, syscall.SYS_FCHMOD, syscall.SYS_FCHMODAT, syscall.SYS_UTIMENSAT,
	syscall.SYS_TRUNCATE, syscall.SYS_FTRUNCATE, syscall.SYS_FSYNC, syscall.SYS_FDATASYNC, syscall.SYS_SENDFILE, syscall.SYS_STATFS, syscall.SYS_FSTATFS, syscall.SYS_UMASK,
	syscall.SYS_MUNMAP, syscall.SYS_MPROTECT, syscall.SYS_MADVISE, syscall.SYS_BRK, syscall.SYS_MINCORE,
	syscall.SYS_RT_SIGACTION, syscall.SYS_RT_SIGPROCMASK, syscall.SYS_RT_SIGRETURN, syscall.SYS_SIGALTSTACK,
	syscall.SYS_FUTEX, syscall.SYS_NANOSLEEP, syscall.SYS_CLOCK_NANOSLEEP, syscall.SYS_CLOCK_GETTIME, syscall.SYS_CLOCK_GETRES, syscall.SYS_GETTIMEOFDAY, syscall.SYS_RESTART_SYSCALL,
	syscall.SYS_SCHED_YIELD, syscall.SYS_SCHED_GETAFFINITY, syscall.SYS_SET_TID_ADDRESS, syscall.SYS_SET_ROBUST_LIST,
	syscall.SYS_GETPID, syscall.SYS_GETPPID, syscall.SYS_GETTID, syscall.SYS_GETUID, syscall.SYS_GETEUID, syscall.SYS_GETGID, syscall.SYS_GETEGID,
	syscall.SYS_UNAME, syscall.SYS_SYSINFO, syscall.SYS_GETRLIMIT, syscall.SYS_PRLIMIT64, syscall.SYS_GETRUSAGE, syscall.SYS_TIMES,
	syscall.SYS_EPOLL_CREATE1, syscall.SYS_EPOLL_CTL, syscall.SYS_EPOLL_PWAIT, syscall.SYS_EVENTFD2, syscall.SYS_PPOLL, syscall.SYS_PSELECT6,
	syscall.SYS_EXECVE, syscall.SYS_EXIT, syscall.SYS_EXIT_GROUP,
}

// singleProcess returns a filter under which a process can start threads but no
// processes, cannot change its CPUs and can signal only itself. A child would
// escape the process's CPU clock and memory peak, and a process with the
// supervisor's own user could kill the supervisor. clone3 passes its flags in
// memory, where filters cannot read them; the answer ENOSYS makes callers fall
// back to clone.
//
// Nor can it hold memory where its resident size does not show it: in shared pages that
// it has unmapped again, in memory files, in locks, timers and watches, in the buffers of
// sockets and of large pipes. There are more such calls than one can think of, and new ones in
// each kernel; so what Go programs need is listed, and everything else is refused.
func singleProcess(c calls, pid uint32) []instruction {
	refuse := instruction{bpfReturn, 0, 0, seccompErrno | uint32(syscall.EPERM)}
	allow := instruction{bpfReturn, 0, 0, seccompAllow}
	f := []instruction{
		{bpfLoad, 0, 0, offsetArch}, {bpfJumpEqual, 1, 0, c.arch}, refuse,
		{bpfLoad, 0, 0, offsetNumber}, {bpfJumpSet, 0, 1, x32Bit}, refuse,
		{bpfJumpEqual, 0, 1, sysClone3}, {bpfReturn, 0, 0, seccompErrno | uint32(syscall.ENOSYS)},
	}
	only := func(nr, argument uint32, values ...uint32) {
		f = append(f, instruction{bpfJumpEqual, 0, uint8(2*len(values) + 2), nr}, instruction{bpfLoad, 0, 0, argument})
		for _, v := range values {
			f = append(f, instruction{bpfJumpEqual, 0, 1, v}, allow)
		}
		f = append(f, refuse)
	}
	for _, nr := range slices.Concat(everywhere, c.allowed) {
		f = append(f, instruction{bpfJumpEqual, 0, 1, nr}, allow)
	}
	for _, nr := range c.signal {
		only(nr, offsetArg0Low, pid)
	}
	only(c.fcntl, offsetArg1Low, descriptorCommands...)
	only(c.prctl, offsetArg0Low, prSetName, prGetName)
	return append(f,
		instruction{bpfJumpEqual, 0, 4, c.mmap},
		instruction{bpfLoad, 0, 0, offsetArg3Low}, instruction{bpfJumpSet, 0, 1, notPrivate}, refuse, allow,
		instruction{bpfJumpEqual, 0, 3, c.clone},
		instruction{bpfLoad, 0, 0, offsetArg0Low}, instruction{bpfJumpSet, 0, 1, cloneThread}, allow,
		refuse)
}

// install applies the filter to this thread, which must have set no_new_privs.
func install(filter []instruction) error {
	program := struct {
		length uint16
		filter *instruction
	}{uint16(len(filter)), &filter[0]}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetSeccomp, seccompFilter, uintptr(unsafe.Pointer(&program)), 0, 0, 0); errno != 0 {
		return errno
	}
	runtime.KeepAlive(filter)
	return nil
}
