//go:build unix

package docker

import (
	"errors"
	"syscall"
)

// dead reports whether there is no process of that number. Signal 0 asks without
// doing anything, also about processes that we may not signal.
func dead(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
