//go:build unix

package docker

import (
	"errors"
	"syscall"
)

// dead reports whether no process has this number. Signal 0 asks without doing
// anything, also about other users' processes.
func dead(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
