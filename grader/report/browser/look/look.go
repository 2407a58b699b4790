// Package look asks pages in a browser what a reader of them would complain about: what
// sticks out, is hard to read, to hit or to reach by keys. It is for tests.
package look

import _ "embed"

// Script defines functions, each of which answers with what is wrong with a page, or with
// what there is.
//
//go:embed look.js
var Script string
