//go:build !unix

package process

import (
	"os"
	"syscall"
)

// ownSession and wake are never called on these systems, which Open refuses.
func ownSession() *syscall.SysProcAttr { return nil }
func wake(*os.Process)                 {}
