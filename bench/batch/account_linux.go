package main

import "golang.org/x/sys/unix"

// keepAccounts has the kernel append a record of each process that ends to a file.
// With an empty name it stops that, which unix.Acct cannot.
func keepAccounts(file string) error {
	if file != "" {
		return unix.Acct(file)
	}
	if _, _, errno := unix.Syscall(unix.SYS_ACCT, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
