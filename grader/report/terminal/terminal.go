// Package terminal formats lines for a terminal: it makes text harmless, adds colour on
// request, and measures and breaks lines without counting escape codes. It knows neither
// reports nor commands, and it never looks at a file descriptor: its caller finds out
// whether there is a terminal.
//
// A caller escapes text of unknown origin ([Escape], [Lines]), styles it with a [Palette]
// and only then breaks it into lines ([Wrap]).
package terminal

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
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

// columns counts the columns of text: two for a wide character of East Asia and for most
// emoji, none for a combining mark. Characters of ambiguous width, such as × and │, count
// one. It is a value of this package because the library's default asks the environment,
// and the same report must have the same bytes everywhere.
var columns = &runewidth.Condition{StrictEmojiNeutral: true}

// Width is how many columns s takes on a terminal. The escape codes of a [Palette] take
// none.
func Width(s string) int {
	n := 0
	for len(s) > 0 {
		if c := codeLen(s); c > 0 {
			s = s[c:]
			continue
		}
		text := textBeforeCode(s)
		n += columns.StringWidth(text)
		s = s[len(text):]
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
	return strings.TrimRight(columns.Truncate(s, width-1, ""), " ") + "…"
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
	for word := range strings.SplitSeq(figure.ReplaceAllString(s, "$1\x00$2"), " ") {
		w.word(strings.ReplaceAll(word, "\x00", " "))
	}
	w.breakLine()
	return w.lines
}

// figure is a number and its unit, which stay together.
var figure = regexp.MustCompile(`([0-9]) ((?:ms|s|min|h|KiB|MiB|GiB|%)(?:[ ,;:.)]|$))`)

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
		word = word[w.text(textBeforeCode(word)):]
	}
}

// text writes as many characters of s as the line has room for, and returns how many bytes
// they are. A character is whole: a letter with its marks, a flag of two letters. One that
// is wider than a line is cut, because a text can chain runes to one of any width.
func (w *wrapper) text(s string) int {
	part := fitting(s, w.width-w.cols)
	if part == "" && w.cols > 0 {
		w.breakLine()
		part = fitting(s, w.width)
	}
	if part == "" {
		_, size := utf8.DecodeRuneInString(s)
		part = s[:size]
	}
	w.line.WriteString(part)
	w.cols += columns.StringWidth(part)
	return len(part)
}

// bytesPerColumn is how many bytes of text are looked at for each column to be filled:
// enough for a letter with half a dozen marks. To look at all of a long word again for
// every line of it would take time that grows with the square of its length.
const bytesPerColumn = 16

// fitting is the beginning of s that takes at most width columns.
func fitting(s string, width int) string {
	return columns.Truncate(s[:headLen(s, bytesPerColumn*(width+1))], width, "")
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

// textBeforeCode is what s, which does not start with an escape code, has before one.
func textBeforeCode(s string) string {
	if i := strings.Index(s[1:], "\x1b["); i >= 0 {
		return s[:1+i]
	}
	return s
}

// isEnd tells a Palette's closing codes (22 to 24, 39) from its opening ones.
func isEnd(code string) bool {
	return strings.HasPrefix(code, "\x1b[2") && code != "\x1b[2m" || code == "\x1b[39m"
}
