//go:build unix

package intake

import "syscall"

// onlyFolders opens nothing but folders, and waits for no one: what was a folder may be a pipe
// by now.
const onlyFolders = syscall.O_DIRECTORY | syscall.O_NONBLOCK
