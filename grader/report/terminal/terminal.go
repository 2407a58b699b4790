// Package terminal is what a line on a terminal is made of: text made harmless,
// colour where it was asked for, width and line breaks that do not count escape
// codes. It knows neither reports nor commands, and it never looks at a file
// descriptor: whether there is a terminal is for its caller to find out.
//
// A caller escapes what came from elsewhere ([Escape], [Lines]), styles it with a
// [Palette] and only then breaks it into lines ([Wrap]).
package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Palette styles text, or, when it is off (the zero value), returns it as it is.
type Palette struct{ on bool }

// NewPalette returns a palette that styles if color is true.
func NewPalette(color bool) Palette { return Palette{on: color} }

// The styles. They nest: ending an inner one leaves the outer one on.
func (p Palette) Bold(s string) string      { return p.wrap("1", "22", s) }
func (p Palette) Dim(s string) string       { return p.wrap("2", "22", s) }
func (p Palette) Italic(s string) string    { return p.wrap("3", "23", s) }
func (p Palette) Underline(s string) string { return p.wrap("4", "24", s) }
func (p Palette) Red(s string) string       { return p.wrap("31", "39", s) }
func (p Palette) Green(s string) string     { return p.wrap("32", "39", s) }
func (p Palette) Yellow(s string) string    { return p.wrap("33", "39", s) }
func (p Palette) Cyan(s string) string      { return p.wrap("36", "39", s) }

func (p Palette) wrap(on, off, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + on + "m" + s + "\x1b[" + off + "m"
}

// Width is how many columns s takes: one for each rune but combining ones and the
// escape codes of a [Palette].
func Width(s string) int {
	n := 0
	for len(s) > 0 {
		if c := codeLen(s); c > 0 {
			s = s[c:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			n++
		}
		s = s[size:]
	}
	return n
}

// Pad fills s with blanks up to width columns.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-Width(s)))
}

// Truncate shortens s to at most width columns, the last of them an ellipsis if
// something was left out. It does not know escape codes: style afterwards.
// A width of zero or less: no limit.
func Truncate(s string, width int) string {
	if width <= 0 || Width(s) <= width {
		return s
	}
	cols := 0
	for i, r := range s {
		if cols += Width(string(r)); cols >= width {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// Wrap breaks s at blanks into lines of at most width columns, and within a word
// only where one is longer than a line. A style that is on at the end of a line is
// ended there and goes on in the next. A width of zero or less: one line.
func Wrap(s string, width int) []string {
	if width <= 0 || Width(s) <= width {
		return []string{s}
	}
	var w wrapper
	w.width = width
	for word := range strings.SplitSeq(s, " ") {
		w.word(word)
	}
	w.breakLine()
	return w.lines
}

// wrapper is the state of a Wrap: lines done, the one being filled, and the styles
// that are on.
type wrapper struct {
	width  int
	lines  []string
	line   strings.Builder
	cols   int
	styles []string
}

func (w *wrapper) word(word string) {
	n := Width(word)
	switch {
	case w.cols > 0 && w.cols+1+n > w.width:
		w.breakLine()
	case w.cols > 0:
		w.line.WriteByte(' ')
		w.cols++
	}
	for len(word) > 0 {
		if c := codeLen(word); c > 0 {
			w.code(word[:c])
			word = word[c:]
			continue
		}
		if w.cols == w.width {
			w.breakLine()
		}
		r, size := utf8.DecodeRuneInString(word)
		w.line.WriteString(word[:size])
		w.cols += Width(string(r))
		word = word[size:]
	}
}

func (w *wrapper) code(c string) {
	w.line.WriteString(c)
	if isEnd(c) {
		w.styles = w.styles[:max(0, len(w.styles)-1)]
		return
	}
	w.styles = append(w.styles, c)
}

func (w *wrapper) breakLine() {
	if len(w.styles) > 0 {
		w.line.WriteString("\x1b[0m")
	}
	w.lines = append(w.lines, w.line.String())
	w.line.Reset()
	w.cols = 0
	for _, s := range w.styles {
		w.line.WriteString(s)
	}
}

// codeLen returns the length of the escape code that s starts with, or 0.
func codeLen(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	return strings.IndexByte(s, 'm') + 1
}

// isEnd tells a Palette's closing codes (22 to 24, 39) from its opening ones.
func isEnd(code string) bool {
	return strings.HasPrefix(code, "\x1b[2") && code != "\x1b[2m" || code == "\x1b[39m"
}
