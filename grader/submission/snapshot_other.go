//go:build !unix

package submission

import "io/fs"

const openFlags = 0

// links is one where the system does not tell: there, a grade is for oneself.
func links(fs.FileInfo) uint64 { return 1 }
