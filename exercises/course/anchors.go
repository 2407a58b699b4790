package course

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

var (
	heading  = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$`)
	linkText = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
)

// anchors returns the anchors of a README's headings as GitHub and GitLab make them:
// lower case, a hyphen for a space, of the rest only letters, digits, hyphens and
// underscores, and a number after a repeated anchor.
func anchors(readme []byte) (list []string) {
	seen := map[string]int{}
	for l := range bytes.Lines(withoutBlocks(readme)) {
		m := heading.FindSubmatch(bytes.TrimRight(l, "\r\n"))
		if m == nil {
			continue
		}
		a := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, linkText.ReplaceAllString(string(m[1]), "$1"))
		n := seen[a]
		seen[a]++
		if n > 0 {
			a = fmt.Sprintf("%s-%d", a, n)
		}
		list = append(list, a)
	}
	return list
}
