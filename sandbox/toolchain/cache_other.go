//go:build !unix

package toolchain

import "io/fs"

// ours reports true: on these systems each user has a temporary directory of
// their own.
func ours(fs.FileInfo) bool { return true }
