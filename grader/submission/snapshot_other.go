//go:build !unix

package submission

import "io/fs"

const openFlags = 0

// links returns one where the system does not tell: students grade their own work
// there, and official gradings run on Linux.
func links(fs.FileInfo) uint64 { return 1 }
