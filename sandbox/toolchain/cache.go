package toolchain

import (
	"fmt"
	"os"
	"path/filepath"
)

// CacheDir is where grade keeps what it can make again, for this user. It is
// made if need be.
func CacheDir(elem ...string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil { // no home: a service account, a bare container
		if base, err = sharedCache(os.TempDir()); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(append([]string{base, "grade"}, elem...)...)
	return dir, os.MkdirAll(dir, 0o700)
}

// sharedCache is a directory of this user's where others can make directories
// as well. We run what is in it, so one that another user has put there in our
// name will not do.
func sharedCache(temp string) (string, error) {
	dir := filepath.Join(temp, fmt.Sprintf("grade-cache-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || info.Mode().Perm() != 0o700 || !ours(info) {
		return "", fmt.Errorf("%s is not a directory of ours alone: remove it, or set HOME or XDG_CACHE_HOME", dir)
	}
	return dir, nil
}
