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

	const form, place = "is not file:line, rule and message", "has no place or no rule"
	for bad, want := range map[string]string{
		"x": form, "a.go:1\tr\n": form, "a.go:1\tr\tm\tn\n": form, "\n": form,
		"a.go:x\tr\tm\n": place, "a.go:-1\tr\tm\n": place, "a.go\tr\tm\n": place, "a.go:1\t\tm\n": place,
		strings.Repeat("a.go:1\tr\tm\n", verdict.MaxProblems+1): form, strings.Repeat("x", maxReport+1): "more than",
	} {
		_, err := ParseReport([]byte(bad))
		require.ErrorContains(t, err, want, "%.40q", bad)
	}
}

// A report that parses is safe to show.
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
