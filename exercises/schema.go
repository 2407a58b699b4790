package exercises

import "embed"

// Schemas holds JSON Schemas of the files that authors write, schema/<file>.json
// for <file>.yaml: for editors, which show what a field means and mark what cannot
// be. [Course.Load] does not use them. It refuses what they refuse and more, since a
// schema knows neither sums nor other files; a test holds one against the other.
//
//go:embed schema/*.json
var Schemas embed.FS
