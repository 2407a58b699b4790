// Package schema holds JSON Schemas of the files that authors write, <file>.json for
// <file>.yaml: for editors, which show what a field means and mark what cannot be.
// Loading a course does not use them. It refuses what they refuse and more, since a
// schema knows neither sums nor other files; a test holds one against the other.
package schema

import "embed"

// Files are the schemas.
//
//go:embed *.json
var Files embed.FS
