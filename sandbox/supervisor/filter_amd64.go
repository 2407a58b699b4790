//go:build linux

package main

import "syscall"

// machine holds the calls of linux/amd64. Package syscall's list ends before renameat2.
var machine = calls{
	arch:   0xc000003e, // AUDIT_ARCH_X86_64
	clone:  syscall.SYS_CLONE,
	mmap:   syscall.SYS_MMAP,
	fcntl:  syscall.SYS_FCNTL,
	prctl:  syscall.SYS_PRCTL,
	signal: []uint32{syscall.SYS_KILL, syscall.SYS_TGKILL},
	allowed: []uint32{
		syscall.SYS_OPEN, syscall.SYS_STAT, syscall.SYS_LSTAT, syscall.SYS_NEWFSTATAT, syscall.SYS_ACCESS, syscall.SYS_READLINK,
		syscall.SYS_UNLINK, syscall.SYS_MKDIR, syscall.SYS_RMDIR, syscall.SYS_RENAME, syscall.SYS_SYMLINK, syscall.SYS_LINK, syscall.SYS_MKNOD, syscall.SYS_CHMOD,
		syscall.SYS_PIPE, syscall.SYS_DUP2, syscall.SYS_POLL, syscall.SYS_SELECT, syscall.SYS_EPOLL_WAIT, syscall.SYS_ARCH_PRCTL, syscall.SYS_TIME, 309, // getcpu
		316 /* renameat2 */, 318 /* getrandom */, 326 /* copy_file_range */, 332 /* statx */, 334 /* rseq */, 439, // faccessat2
	},
}
