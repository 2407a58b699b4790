package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TabWidth is how many blanks stand for a tab.
const TabWidth = 4

// Escape makes text of unknown origin safe to print within one line. What is not
// a printable character or a blank is written as a Go escape: control characters,
// ESC, C1 controls, line and paragraph separators, bidirectional and zero-width
// controls, bytes that are not UTF-8. It allows rather than denies: what Unicode
// adds later is escaped until this program's tables know it.
//
// "##[" is broken up as well: a GitHub runner takes it for the start of a command
// anywhere in a line (actions/runner, ActionCommand.TryParse). Its newer form,
// "::", counts at the start of a line only, leading blanks ignored, so a caller
// puts a mark of its own before text from elsewhere, or calls [Start].
func Escape(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(escapeRune(r))
		}
		s = s[n:]
	}
	return strings.ReplaceAll(b.String(), "##[", `##\[`)
}

// Start is Escape for text that a line starts with: there, some runners of CI take "::" for
// the start of a command.
func Start(s string) string {
	if strings.HasPrefix(strings.TrimSpace(s), "::") {
		return `\` + Escape(s)
	}
	return Escape(s)
}

// Excerpt is Escape for text of unknown length: at most width columns of it, the
// last an ellipsis if something was left out. It reads no more of s than that.
func Excerpt(s string, width int) string {
	head := s[:headLen(s, utf8.UTFMax*(width+1))]
	out := Truncate(Escape(head), width)
	if len(head) < len(s) && !strings.HasSuffix(out, "…") {
		out += "…"
	}
	return out
}

// headLen returns how many of the first n bytes of s to read: less if the cut would go
// through a character, whose bytes would be shown as escapes.
func headLen(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for i := n; i > n-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return n
}

// Lines is Excerpt for text that may have several lines: the first n, each on its
// own and with its tabs made blanks, and how many more there are. Newlines at the
// end do not count.
func Lines(s string, n, width int) (lines []string, more int) {
	s = strings.TrimRight(s, "\r\n")
	for line := range strings.SplitSeq(s, "\n") {
		if len(lines) == n {
			return lines, strings.Count(s, "\n") + 1 - n
		}
		line = strings.TrimSuffix(line, "\r")
		line = line[:min(len(line), utf8.UTFMax*(width+1)+1)] // one more than Excerpt reads: it sees that there is more
		lines = append(lines, Excerpt(strings.ReplaceAll(line, "\t", strings.Repeat(" ", TabWidth)), width))
	}
	return lines, 0
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return !strings.Contains(s, "##[")
}

func escapeRune(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	switch {
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
