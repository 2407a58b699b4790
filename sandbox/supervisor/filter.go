//go:build linux

package main

import (
	"runtime"
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

	sysClone3          = 435 // these are the same on every architecture
	sysPidfdSendSignal = 424
	sysIOUringSetup    = 425

	notPrivate  = 0x01 | 0x08 // of mmap's flags: MAP_SHARED, MAP_SHARED_VALIDATE, MAP_DROPPABLE
	setPipeSize = 1031        // F_SETPIPE_SZ
)

type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

// calls lists the numbers of an architecture's system calls that a filter needs.
type calls struct {
	arch   uint32   // AUDIT_ARCH_*
	clone  uint32   // makes a process or a thread, depending on its flags
	signal []uint32 // send a signal to the process in the first argument
	mmap   uint32   // with its flags in the fourth argument
	fcntl  uint32   // with its command in the second
	never  []uint32 // are always refused
}

// singleProcess returns a filter under which a process can start threads but no
// processes, cannot change its CPUs and can signal only itself. A child would
// escape the process's CPU clock and memory peak, and a process with the
// supervisor's own user could kill the supervisor. clone3 passes its flags in
// memory, where filters cannot read them; the answer ENOSYS makes callers fall
// back to clone.
//
// Nor can it hold memory where its resident size does not show it: in shared pages that
// it has unmapped again, in memory files, in the buffers of sockets and of large pipes.
// Go's runtime asks for none of these.
func singleProcess(c calls, pid uint32) []instruction {
	refuse := instruction{bpfReturn, 0, 0, seccompErrno | uint32(syscall.EPERM)}
	allow := instruction{bpfReturn, 0, 0, seccompAllow}
	f := []instruction{
		{bpfLoad, 0, 0, offsetArch}, {bpfJumpEqual, 1, 0, c.arch}, refuse,
		{bpfLoad, 0, 0, offsetNumber}, {bpfJumpSet, 0, 1, x32Bit}, refuse,
		{bpfJumpEqual, 0, 1, sysClone3}, {bpfReturn, 0, 0, seccompErrno | uint32(syscall.ENOSYS)},
	}
	for _, nr := range c.never {
		f = append(f, instruction{bpfJumpEqual, 0, 1, nr}, refuse)
	}
	f = append(f,
		instruction{bpfJumpEqual, 0, 4, c.mmap},
		instruction{bpfLoad, 0, 0, offsetArg3Low}, instruction{bpfJumpSet, 0, 1, notPrivate}, refuse, allow,
		instruction{bpfJumpEqual, 0, 4, c.fcntl},
		instruction{bpfLoad, 0, 0, offsetArg1Low}, instruction{bpfJumpEqual, 0, 1, setPipeSize}, refuse, allow)
	for _, nr := range c.signal {
		f = append(f, instruction{bpfJumpEqual, 0, 4, nr},
			instruction{bpfLoad, 0, 0, offsetArg0Low}, instruction{bpfJumpEqual, 1, 0, pid}, refuse, allow)
	}
	return append(f,
		instruction{bpfJumpEqual, 0, 3, c.clone},
		instruction{bpfLoad, 0, 0, offsetArg0Low}, instruction{bpfJumpSet, 1, 0, cloneThread}, refuse,
		allow)
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
