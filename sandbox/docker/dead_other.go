//go:build !unix

package docker

// dead cannot be told here: a container that was left behind goes when it is old.
func dead(int) bool { return false }
