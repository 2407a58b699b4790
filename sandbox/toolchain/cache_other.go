//go:build !unix

package toolchain

import "io/fs"

// ours is not a question where each user has a temporary directory of his own.
func ours(fs.FileInfo) bool { return true }
