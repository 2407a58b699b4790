package toolchain

import (
	"fmt"
	"os"
	"path/filepath"
)

// CacheDir returns this user's directory for files that grade can make again,
// and creates it.
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

// sharedCache returns a directory of this user's below a temporary directory
// that other users can write to. Programs in it are run, so sharedCache refuses
// a directory that another user has made under this name.
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
		return "", fmt.Errorf("%s is not a private directory of this user: remove it, or set HOME or XDG_CACHE_HOME", dir)
	}
	return dir, nil
}
