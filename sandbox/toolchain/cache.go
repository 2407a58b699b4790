package toolchain

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
)

// CacheDir returns this user's directory for files that grade can make again,
// and creates it.
func CacheDir(elem ...string) (string, error) { return cacheDir(listedHome, elem...) }

// cacheDir is CacheDir. Listed finds the home where the environment names none, as under
// cron or systemd: without it, all that was kept before would be made again.
func cacheDir(listed func() string, elem ...string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		if base, err = homelessCache(listed()); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(append([]string{base, "grade"}, elem...)...)
	return dir, os.MkdirAll(dir, 0o700)
}

// homelessCache returns the directory of caches where the environment names none.
func homelessCache(home string) (string, error) {
	if home != "" {
		return filepath.Join(home, ".cache"), nil
	}
	return sharedCache(os.TempDir()) // a service account, a bare container
}

// listedHome returns the home of this user by the system's list of users. It is "" if
// there is none that can be used.
func listedHome() string {
	me, err := user.Current()
	if err != nil || me.HomeDir == "" || me.HomeDir == "/" {
		return ""
	}
	info, err := os.Stat(me.HomeDir)
	if err != nil || !info.IsDir() || !ours(info) {
		return ""
	}
	return me.HomeDir
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
