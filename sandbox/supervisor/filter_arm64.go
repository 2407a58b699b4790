//go:build linux

package main

import "syscall"

// machine holds the calls of linux/arm64, where fork and vfork are forms of
// clone.
var machine = calls{
	arch:   0xc00000b7, // AUDIT_ARCH_AARCH64
	clone:  syscall.SYS_CLONE,
	mmap:   syscall.SYS_MMAP,
	fcntl:  syscall.SYS_FCNTL,
	signal: []uint32{syscall.SYS_KILL, syscall.SYS_TGKILL},
	never: []uint32{
		syscall.SYS_SCHED_SETAFFINITY,
		syscall.SYS_TKILL, syscall.SYS_RT_SIGQUEUEINFO, syscall.SYS_RT_TGSIGQUEUEINFO, sysPidfdSendSignal,
		syscall.SYS_PTRACE, 270 /* process_vm_readv */, 271, /* process_vm_writev */
		syscall.SYS_MREMAP, syscall.SYS_REMAP_FILE_PAGES, syscall.SYS_SHMGET, syscall.SYS_TEE, syscall.SYS_VMSPLICE,
		279 /* memfd_create */, 282 /* userfaultfd */, sysIOUringSetup, syscall.SYS_SOCKET, syscall.SYS_SOCKETPAIR,
	},
}
