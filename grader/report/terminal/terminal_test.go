package terminal

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestEscape(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain text is left alone":         {"dy/dx: got 2, want 3", "dy/dx: got 2, want 3"},
		"printable Unicode too":            {"∂y/∂x ≤ 1e-9 é 漢", "∂y/∂x ≤ 1e-9 é 漢"},
		"colour":                           {"\x1b[31mred", `\x1b[31mred`},
		"title of the window":              {"\x1b]0;pwn\x07", `\x1b]0;pwn\x07`},
		"C1 control sequence introducer":   {"\u009b31m", `\u009b31m`},
		"the same as a bare byte":          {"\x9b31m", `\x9b31m`},
		"carriage return":                  {"good\rbad", `good\rbad`},
		"newline and tab in a single line": {"a\n\tb", `a\n\tb`},
		"backspace and delete":             {"a\b\x7f", `a\x08\x7f`},
		"bidirectional override":           {"a\u202eb\u2066c", `a\u202eb\u2066c`},
		"zero width":                       {"a\u200b\ufeff", `a\u200b\ufeff`},
		"line separator":                   {"a\u2028b", `a\u2028b`},
		"tag characters":                   {"a\U000e0041", `a\U000e0041`},
		"no-break space":                   {"a\u00a0b", `a\u00a0b`},
		"old workflow command":             {"x ##[error]y", `x ##\[error]y`},
		"NUL":                              {"a\x00b", `a\x00b`},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, Escape(c.in)) })
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("\x1b[31m\u202e\xff##\x1b[")
	f.Fuzz(func(t *testing.T, s string) {
		got := Escape(s)
		assert.True(t, utf8.ValidString(got))
		assert.NotContains(t, got, "##[")
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Fatalf("%U got through in %q", r, got)
			}
		}
	})
}

// A runner that reads commands at the start of a line finds none there.
func TestStart(t *testing.T) {
	for text, want := range map[string]string{
		"ada": "ada", "a::b": "a::b", "::stop-commands::x": `\::stop-commands::x`, "  ::error::x": `\  ::error::x`, "\t::x": `\\t::x`, "##[x]::": `##\[x]::`, "": "",
	} {
		assert.Equal(t, want, Start(text))
	}
}

func TestLines(t *testing.T) {
	lines, more := Lines("a\r\n\tb\x1b\nc\n\n", 5, 80)
	assert.Equal(t, []string{"a", `    b\x1b`, "c"}, lines)
	assert.Zero(t, more)
	lines, more = Lines("a\nbbbb\nc\nd\n", 2, 3)
	assert.Equal(t, []string{"a", "bb…"}, lines)
	assert.Equal(t, 2, more)
}

func TestExcerpt(t *testing.T) {
	assert.Equal(t, "漢字", Excerpt("漢字", 2))
	assert.Equal(t, "漢字漢…", Excerpt(strings.Repeat("漢字", 1<<20), 4))
	assert.Equal(t, `\xff…`, Excerpt(strings.Repeat("\xff", 1<<20), 5))
	marks := Excerpt(strings.Repeat("\u0301", 1<<20), 5)
	assert.Less(t, len(marks), 100, "marks that take no column are cut too")
	assert.True(t, strings.HasSuffix(marks, "…"))
}

func TestPalette(t *testing.T) {
	assert.Equal(t, "x", NewPalette(false).Bold("x"))
	assert.Equal(t, "\x1b[31mx\x1b[39m", NewPalette(true).Red("x"))
	assert.Empty(t, NewPalette(true).Red(""), "nothing to style, no codes")
}

func TestWidth(t *testing.T) {
	assert.Equal(t, 3, Width(NewPalette(true).Bold("a∂e\u0301")))
	assert.Equal(t, "ab  ", Pad("ab", 4))
}

func TestTruncate(t *testing.T) {
	assert.Equal(t, "abcdef", Truncate("abcdef", 6))
	assert.Equal(t, "abcd…", Truncate("abcdef", 5))
	assert.Equal(t, "abc…", Truncate("abc def", 5), "no blank before the ellipsis")
	assert.Equal(t, "abcdef", Truncate("abcdef", 0))
}

func TestWrap(t *testing.T) {
	assert.Equal(t, []string{"one two", "three"}, Wrap("one two three", 8))
	assert.Equal(t, []string{"one two three"}, Wrap("one two three", 0))
	assert.Equal(t, []string{"abcd", "efg"}, Wrap("abcdefg", 4), "a word longer than a line")
	assert.Equal(t, []string{"x", "abcd", "ef"}, Wrap("x abcdef", 4))
}

func TestWrapCarriesStyles(t *testing.T) {
	p := NewPalette(true)
	got := Wrap("a "+p.Bold(p.Red("bb cc"))+" d", 4)
	assert.Equal(t, []string{"a \x1b[1m\x1b[31mbb\x1b[0m", "\x1b[1m\x1b[31mcc\x1b[39m\x1b[22m d"}, got)
	for _, l := range got {
		assert.LessOrEqual(t, Width(l), 4)
	}
	assert.Equal(t, 0, strings.Count(got[1], "\x1b[0m"))
}
