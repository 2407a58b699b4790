//go:build unix

package toolchain

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file belongs to the current user.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
