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
	prctl:  syscall.SYS_PRCTL,
	signal: []uint32{syscall.SYS_KILL, syscall.SYS_TGKILL},
	allowed: []uint32{
		syscall.SYS_FSTATAT, syscall.SYS_GETCPU,
		276 /* renameat2 */, 278 /* getrandom */, 285 /* copy_file_range */, 291 /* statx */, 293 /* rseq */, 439, // faccessat2
	},
}
