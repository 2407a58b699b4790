package vet

import (
	"go/build/constraint"
	"go/scanner"
	"go/token"
	"strconv"
	"strings"
	"unicode"

	"grade/grader/submission"
)

// maxNesting caps the depth of brackets. At the parser's own limit of 100,000 it uses
// a quarter of a gigabyte of stack.
const maxNesting = 250

// bidi are the characters that change the direction of the text around them, so
// that code reads otherwise than it runs (CVE-2021-42574).
var bidi = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x061c, Hi: 0x061c, Stride: 1},
	{Lo: 0x200e, Hi: 0x200f, Stride: 1},
	{Lo: 0x202a, Hi: 0x202e, Stride: 1},
	{Lo: 0x2066, Hi: 0x2069, Stride: 1},
}}

// scan applies the rules that need no syntax tree, and reports whether the file is
// safe to parse.
func (v *walker) scan(f submission.File) bool {
	v.bidi(f)
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(f.Data))
	var s scanner.Scanner
	s.Init(file, f.Data, func(token.Position, string) {}, scanner.ScanComments)
	depth, deepest := 0, 0
	for {
		pos, tok, text := s.Scan()
		switch tok {
		case token.EOF:
			return deepest <= maxNesting
		case token.COMMENT:
			if rule, message := directive(text); rule != "" {
				v.refuse(f.Name, fset.PositionFor(pos, false).Line, rule, message)
			}
		case token.LPAREN, token.LBRACK, token.LBRACE:
			if depth++; depth > maxNesting && deepest <= maxNesting {
				v.refuse(f.Name, fset.PositionFor(pos, false).Line, "nesting",
					"brackets are nested more than "+strconv.Itoa(maxNesting)+" deep; split this code into functions")
			}
			deepest = max(deepest, depth)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth = max(0, depth-1) // brackets that close nothing give no credit for those that follow
		}
	}
}

func (v *walker) bidi(f submission.File) {
	for i, line := range strings.Split(string(f.Data), "\n") {
		if at := strings.IndexFunc(line, func(r rune) bool { return unicode.Is(bidi, r) }); at >= 0 {
			v.refuse(f.Name, i+1, "bidi", "this line contains an invisible character that changes the direction of text; remove it, or write it as an escape such as \\u200f")
		}
	}
}

// directive returns the rule that a comment breaks if Go's tools obey it.
func directive(comment string) (rule, message string) {
	switch {
	case constraint.IsGoBuild(comment), constraint.IsPlusBuild(comment):
		return "build-constraint", "every file is compiled on every platform; remove this build constraint"
	case hasAnyPrefix(comment, "//go:", "//line ", "/*line ", "//export ", "//extern ", "//cgo_"):
		return "directive", "this comment is a directive to Go's tools; remove it, or put a space after //"
	}
	return "", ""
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
