//go:build unix

package engine

import "golang.org/x/sys/unix"

// room is how many bytes a disk has left for what is in a folder.
func room(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}
