package main

import (
	"os"
	"syscall"
)

// wasClosed reports whether this process began without a standard output. Go opens
// /dev/null in its place, to be read and written, where a shell opens it to be written. A
// program that starts this one may have opened it so as well, and for standard error too:
// then it wants to hear nothing.
func wasClosed() bool {
	return nullDevice(1) && !nullDevice(2)
}

func nullDevice(fd int) bool {
	var is, null syscall.Stat_t
	if syscall.Fstat(fd, &is) != nil || syscall.Stat(os.DevNull, &null) != nil || is.Rdev != null.Rdev || is.Mode&syscall.S_IFMT != syscall.S_IFCHR {
		return false
	}
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
	return errno == 0 && flags&syscall.O_ACCMODE == syscall.O_RDWR
}
