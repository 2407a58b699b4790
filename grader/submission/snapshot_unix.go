//go:build unix

package submission

import (
	"io/fs"
	"syscall"
)

// openFlags keep open from following a link and from blocking on a FIFO that has
// taken the place of a file.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// links returns the number of names that a file has. A file with a second name may
// belong to another user.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 0 // unknown, which is refused like a hard link
}
