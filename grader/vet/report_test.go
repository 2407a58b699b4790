package vet

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReport(t *testing.T) {
	problems := []Problem{{"a.go", 3, "unsafe", "one"}, {"b:c.go", 0, "type", "two words; and more"}}
	got, err := ParseReport(AppendReport(nil, problems))
	require.NoError(t, err)
	require.Equal(t, problems, got)

	got, err = ParseReport(AppendReport(nil, []Problem{{"a\n.go", 1, "r\tr", "a\tb\x1b\n"}}))
	require.NoError(t, err)
	require.Equal(t, []Problem{{`a\n.go`, 1, "r r", `a b\x1b\n`}}, got)

	got, err = ParseReport(nil)
	require.NoError(t, err)
	require.Empty(t, got)

	for _, bad := range []string{
		"x", "a.go:1\tr\n", "a.go:x\tr\tm\n", "a.go:-1\tr\tm\n", "a.go\tr\tm\n", "a.go:1\t\tm\n", "a.go:1\tr\tm\tn\n", "\n",
		strings.Repeat("a.go:1\tr\tm\n", MaxProblems+1), strings.Repeat("x", maxReport+1),
	} {
		_, err := ParseReport([]byte(bad))
		require.Error(t, err, "%.40q", bad)
	}
}

// A report that parses holds nothing that can harm whoever shows it.
func FuzzReport(f *testing.F) {
	f.Add([]byte("a.go:1\tunsafe\tmessage\n"))
	f.Add([]byte("a.go:1\tunsafe\tmess\x1bage"))
	f.Fuzz(func(t *testing.T, report []byte) {
		problems, err := ParseReport(report)
		if err != nil {
			return
		}
		for _, p := range problems {
			if strings.ContainsAny(p.File+p.Rule+p.Message, "\x1b\n\t\r") || p.Line < 0 || p.Rule == "" {
				t.Errorf("problem %q", p.Message)
			}
		}
	})
}
