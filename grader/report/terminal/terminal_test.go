package terminal

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
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
	assert.Equal(t, "漢字", Excerpt("漢字", 4))
	assert.Equal(t, "漢…", Excerpt("漢字", 3))
	assert.Equal(t, "漢字漢…", Excerpt(strings.Repeat("漢字", 1<<20), 7))
	assert.Equal(t, "漢字漢…", Excerpt(strings.Repeat("漢字", 1<<20), 8), "half a character has no room")
	accented := strings.Repeat("a\u0301\u0302\u0303", 100)
	for width := range 20 {
		assert.NotContains(t, Excerpt(accented, 1+width), `\x`, "no cut goes through a character")
	}
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
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"ASCII":                            {"ada-lovelace", 12},
		"Chinese":                          {"王小明", 6},
		"Japanese, half width":             {"ﾊﾝｶｸ", 4},
		"full width":                       {"ＡＢ", 4},
		"Korean, composed":                 {"홍길동", 6},
		"Korean, in parts":                 {"\u1112\u1169\u11bc", 2},
		"Vietnamese, composed":             {"Nguyễn", 6},
		"Vietnamese, with combining marks": {"Nguye\u0302\u0303n", 6},
		"Devanagari":                       {"नमन", 3},
		"emoji":                            {"🎓", 2},
		"emoji with a colour of skin":      {"👍🏽", 2},
		"flag":                             {"🇨🇳", 2},
		"many marks on a letter":           {"a" + strings.Repeat("\u0300", 50), 1},
		"what a report draws with":         {"✓✗·│█▏▶…×", 9},
		"style between characters":         {"王" + NewPalette(true).Red("小") + "明", 6},
		"a style that never ends":          {"\x1b[王", 3},
	} {
		assert.Equal(t, c.want, Width(c.text), name)
	}
}

// The same text has the same width in every environment: the library would count a bar or
// a multiplication sign double where the locale is Chinese.
func TestWidthAsksNoEnvironment(t *testing.T) {
	runewidth.DefaultCondition.EastAsianWidth = true
	t.Cleanup(func() { runewidth.DefaultCondition.EastAsianWidth = false })
	assert.Equal(t, 3, Width("│×…"))
}

// Columns line up, whatever names are written in.
func TestPadLinesUp(t *testing.T) {
	for _, name := range []string{"ada", "王小明", "Nguye\u0302\u0303n", "🎓 dean", "홍길동", "\u202eevil"} {
		assert.Equal(t, 14, Width(Pad(Escape(name), 14)), name)
	}
}

func TestTruncate(t *testing.T) {
	assert.Equal(t, "abcdef", Truncate("abcdef", 6))
	assert.Equal(t, "abcd…", Truncate("abcdef", 5))
	assert.Equal(t, "abc…", Truncate("abc def", 5), "no blank before the ellipsis")
	assert.Equal(t, "abcdef", Truncate("abcdef", 0))
	assert.Equal(t, "王…", Truncate("王小明", 4))
	assert.Equal(t, "王小…", Truncate("王小明", 5))
	assert.Equal(t, "…", Truncate("王小明", 1))
	assert.Equal(t, "e\u0301…", Truncate("e\u0301e\u0301e\u0301", 2), "marks stay with their letter")
	assert.Equal(t, "🇨🇳…", Truncate("🇨🇳🇩🇪", 3), "a flag is not cut in two")
}

func TestWrap(t *testing.T) {
	assert.Equal(t, []string{"one two", "three"}, Wrap("one two three", 8))
	assert.Equal(t, []string{"one two three"}, Wrap("one two three", 0))
	assert.Equal(t, []string{"abcd", "efg"}, Wrap("abcdefg", 4), "a word longer than a line")
	assert.Equal(t, []string{"x", "abcd", "ef"}, Wrap("x abcdef", 4))
}

func TestWrapWide(t *testing.T) {
	assert.Equal(t, []string{"王小", "明"}, Wrap("王小明", 5))
	assert.Equal(t, []string{"a 王", "小明"}, Wrap("a 王 小明", 4))
	assert.Equal(t, []string{"王", "小"}, Wrap("王小", 1), "a character is not cut, however narrow the line")
	assert.Equal(t, []string{"0", "🏽", "🏽"}, Wrap("0🏽🏽", 2), "but for one that is a chain")
	assert.Equal(t, []string{"e\u0301e\u0301", "e\u0301"}, Wrap("e\u0301e\u0301e\u0301", 2))
}

// A long word costs time in proportion to its length, also where characters are chains of
// runes. With the square of it these would take minutes.
func TestWrapOfLongWords(t *testing.T) {
	for _, unit := range []string{"a", "王", "e\u0301", "\u0301", "🇨🇳", "0🏽"} {
		s := strings.Repeat(unit, 1<<18)
		started := time.Now()
		lines := Wrap(s, 40)
		assert.Less(t, time.Since(started), 20*time.Second, "%q", unit)
		assert.Equal(t, s, strings.Join(lines, ""))
	}
}

// Whatever a text consists of, it ends up in lines that fit, and none of it is lost.
func FuzzWrap(f *testing.F) {
	f.Add("王小明 e\u0301e\u0301 🇨🇳🇩🇪 👍🏽", 3)
	f.Add("\u0301\u0301 \u200d\u1112\u1169", 2)
	f.Add(strings.Repeat("\u0600", 9)+"漢", 2)
	f.Add("0🏽🏽🏽", 2)
	f.Fuzz(func(t *testing.T, s string, width int) {
		s = Escape(s)
		width = 2 + (width%40+40)%40
		lines := Wrap(s, width)
		for _, l := range lines {
			assert.LessOrEqual(t, Width(l), width, "%q", l)
		}
		assert.Equal(t, strings.ReplaceAll(s, " ", ""), strings.ReplaceAll(strings.Join(lines, ""), " ", ""))
		assert.LessOrEqual(t, Width(Truncate(s, width)), width)
	})
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
