//go:build unix

package process

import (
	"os"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// wake lets a supervisor go on that a program has stopped.
func wake(p *os.Process) { _ = p.Signal(syscall.SIGCONT) }
