//go:build !unix

package process

import (
	"os"
	"syscall"
)

// These are never called: Open refuses a system without processes as we know
// them.
func ownSession() *syscall.SysProcAttr { return nil }
func wake(*os.Process)                 {}
