package verdict

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns a name that is safe to show: unchanged if it is harmless, quoted
// and shortened otherwise.
func Printable(name string) string {
	const most = 80
	unclear := func(r rune) bool { return r == utf8.RuneError || r == '"' || !unicode.IsPrint(r) }
	if len(name) <= most && !strings.ContainsFunc(name, unclear) {
		return name
	}
	if len(name) > most {
		return strconv.QuoteToASCII(name[:most]) + "..."
	}
	return strconv.QuoteToASCII(name)
}

// Clip makes a text safe to show on one line. It escapes control characters and those
// that change the direction of text, and cuts the text to at most so many bytes.
func Clip(text string, most int) string {
	var b strings.Builder
	end := 0 // the cut of a text that is too long
	for _, r := range text {
		part := string(r)
		switch {
		case r == '\t':
			part = " "
		case !unicode.IsPrint(r):
			part = strings.Trim(strconv.QuoteRuneToASCII(r), "'")
		}
		if b.Len()+len(part) > most {
			return b.String()[:end] + "..."
		}
		b.WriteString(part)
		if b.Len() <= most-len("...") {
			end = b.Len()
		}
	}
	return b.String()
}

// MaxProblems caps the problems of one kind that a result lists.
const MaxProblems = 50
