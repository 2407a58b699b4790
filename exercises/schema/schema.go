// Package schema holds JSON Schemas of the files that authors write, <file>.json for
// <file>.yaml, by which editors explain fields and mark mistakes. The loader of a
// course does not use them: it refuses what they refuse and more, because a schema
// knows neither sums nor other files. A test compares the two.
package schema

import "embed"

// Files are the schemas.
//
//go:embed *.json
var Files embed.FS
