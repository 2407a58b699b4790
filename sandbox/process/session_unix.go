//go:build unix

package process

import (
	"os"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// wake resumes a supervisor that a program has stopped.
func wake(p *os.Process) { _ = p.Signal(syscall.SIGCONT) }
