package markdown

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/report/terminal"
)

var update = flag.Bool("update", false, "write the golden files of this package anew")

func sample(t *testing.T) []byte {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", "sample.md"))
	require.NoError(t, err)
	return source
}

func TestGolden(t *testing.T) {
	for name, o := range map[string]Options{
		"sample.txt":       {Width: 72},
		"sample.color.txt": {Width: 60, Color: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := Render(sample(t), o)
			path := filepath.Join("testdata", name)
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err, "run go test -update to write it")
			assert.Equal(t, string(want), got)
		})
	}
}

// No rule may get lost because a terminal is narrow.
func TestNoWordIsLost(t *testing.T) {
	// Broken words, table rules and repeated marks differ; the letters do not.
	letters := func(s string) map[rune]int {
		n := map[rune]int{}
		for _, r := range s {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				n[r]++
			}
		}
		return n
	}
	want := letters(Render(sample(t), Options{Width: 1000}))
	for _, width := range []int{0, 20, 30, 50, 100} {
		assert.Equal(t, want, letters(Render(sample(t), Options{Width: width})), "%d columns", width)
	}
}

func TestLinesFitTheTerminal(t *testing.T) {
	for _, width := range []int{40, 60, 100} {
		for line := range strings.Lines(Render(sample(t), Options{Width: width, Color: true})) {
			if strings.Contains(line, "func New") {
				continue // code is not broken
			}
			assert.LessOrEqual(t, terminal.Width(strings.TrimSuffix(line, "\n")), width, line)
		}
	}
}

func TestControlCharactersAreShown(t *testing.T) {
	got := Render(sample(t), Options{Width: 1000})
	assert.Contains(t, got, `Control characters: \x1b[31mred \u202e end.`)
	assert.NotContains(t, got, "\x1b")
}

func FuzzRender(f *testing.F) {
	f.Add("# x\n\n> y `z`\n", 40)
	f.Add("| a |\n|-|\n| b | c |\n", 3)
	f.Add("1. - > # x\n\n---\n[a](\x1b)", 0)
	f.Fuzz(func(t *testing.T, source string, width int) {
		got := Render([]byte(source), Options{Width: width % 200})
		for _, r := range got {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Fatalf("%U got through in %q", r, got)
			}
		}
	})
}
