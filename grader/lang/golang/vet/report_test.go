package vet

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"grade/grader/verdict"
)

func TestReport(t *testing.T) {
	problems := []verdict.Problem{{File: "a.go", Line: 3, Rule: "unsafe", Message: "one"}, {File: "b:c.go", Line: 0, Rule: "type", Message: "two words; and more"}}
	got, err := ParseReport(AppendReport(nil, problems))
	require.NoError(t, err)
	require.Equal(t, problems, got)

	got, err = ParseReport(AppendReport(nil, []verdict.Problem{{File: "a\n.go", Line: 1, Rule: "r\tr", Message: "a\tb\x1b\n"}}))
	require.NoError(t, err)
	require.Equal(t, []verdict.Problem{{File: `a\n.go`, Line: 1, Rule: "r r", Message: `a b\x1b\n`}}, got)

	got, err = ParseReport(nil)
	require.NoError(t, err)
	require.Empty(t, got)

	for _, bad := range []string{
		"x", "a.go:1\tr\n", "a.go:x\tr\tm\n", "a.go:-1\tr\tm\n", "a.go\tr\tm\n", "a.go:1\t\tm\n", "a.go:1\tr\tm\tn\n", "\n",
		strings.Repeat("a.go:1\tr\tm\n", verdict.MaxProblems+1), strings.Repeat("x", maxReport+1),
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
