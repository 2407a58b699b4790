//go:build !linux

package main

// wasClosed is not known on this system.
func wasClosed() bool { return false }
