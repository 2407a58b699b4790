//go:build unix

package submission

import (
	"io/fs"
	"syscall"
)

// openFlags keep an opening from following a link and from blocking on a FIFO
// that took the place of a file.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// links is the number of names that a file has. A file with a second name may
// be somebody else's.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 0 // not known, so not one
}
