package grader

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"grade/grader/submission"
	"grade/grader/verdict"
)

// A result quotes what stood in a file when it was graded, and nothing where there is no
// such line.
func TestExcerpt(t *testing.T) {
	s := &submission.Snapshot{Files: []submission.File{
		{Name: "a.go", Data: []byte("one\r\n\ttwo\n\nfour\nfive\n")},
		{Name: "long.go", Data: []byte(strings.Repeat("x", maxSourceLine-1) + "é\xff")},
	}}
	for _, c := range []struct {
		file string
		line int
		want verdict.Excerpt
	}{
		{"a.go", 1, verdict.Excerpt{Source: "one", After: "\ttwo\n\n"}},
		{"a.go", 3, verdict.Excerpt{Before: "one\n\ttwo\n", After: "four\nfive\n"}},
		{"a.go", 5, verdict.Excerpt{Before: "\nfour\n", Source: "five", After: "\n"}},
		{"a.go", 6, verdict.Excerpt{Before: "four\nfive\n"}},
		{"a.go", 7, verdict.Excerpt{}},
		{"a.go", 0, verdict.Excerpt{}},
		{"a.go", -1, verdict.Excerpt{}},
		{"b.go", 1, verdict.Excerpt{}},
		{"long.go", 1, verdict.Excerpt{Source: strings.Repeat("x", maxSourceLine-1)}},
	} {
		assert.Equal(t, c.want, excerptOf(s, c.file, c.line), "%s:%d", c.file, c.line)
	}
}
