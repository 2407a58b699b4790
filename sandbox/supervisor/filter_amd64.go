//go:build linux

package main

import "syscall"

// machine holds the calls of linux/amd64. Package syscall's list ends before
// process_vm_readv.
var machine = calls{
	arch:   0xc000003e, // AUDIT_ARCH_X86_64
	clone:  syscall.SYS_CLONE,
	mmap:   syscall.SYS_MMAP,
	fcntl:  syscall.SYS_FCNTL,
	signal: []uint32{syscall.SYS_KILL, syscall.SYS_TGKILL},
	never: []uint32{
		syscall.SYS_FORK, syscall.SYS_VFORK, syscall.SYS_SCHED_SETAFFINITY,
		syscall.SYS_TKILL, syscall.SYS_RT_SIGQUEUEINFO, syscall.SYS_RT_TGSIGQUEUEINFO, sysPidfdSendSignal,
		syscall.SYS_PTRACE, 310 /* process_vm_readv */, 311, /* process_vm_writev */
		syscall.SYS_MREMAP, syscall.SYS_REMAP_FILE_PAGES, syscall.SYS_SHMGET, syscall.SYS_TEE, syscall.SYS_VMSPLICE,
		319 /* memfd_create */, 323 /* userfaultfd */, sysIOUringSetup, syscall.SYS_SOCKET, syscall.SYS_SOCKETPAIR,
	},
}
