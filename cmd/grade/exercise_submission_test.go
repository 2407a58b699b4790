package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/report/terminal"
)

// A program reads files as they are; a terminal shows nothing of them but text.
func TestShownText(t *testing.T) {
	const text = "@@ -1,2 +1,2 @@\n-\ta\n+\x1b[2Jb\n c\n"
	for name, tt := range map[string]struct {
		out  terminal.Stream
		want string
	}{
		"a file":                  {terminal.Stream{}, text},
		"a terminal":              {terminal.Stream{Width: 80}, "@@ -1,2 +1,2 @@\n-    a\n+\\x1b[2Jb\n c\n"},
		"a terminal with colours": {terminal.Stream{Width: 80, Color: true}, "\x1b[36m@@ -1,2 +1,2 @@\x1b[39m\n\x1b[31m-    a\x1b[39m\n\x1b[32m+\\x1b[2Jb\x1b[39m\n c\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			tt.out.Writer = &b
			o := &submissionShowOptions{submissionNamed: submissionNamed{app: &app{out: tt.out}}}
			require.NoError(t, o.text([]byte(text), terminal.NewPalette(tt.out.Color)))
			assert.Equal(t, tt.want, b.String())
		})
	}
}

// The names are completed as they are typed.
func TestCompleteSubmissions(t *testing.T) {
	a := newApp(nil, &bytes.Buffer{}, &bytes.Buffer{})
	a.courseDir = courseRoot
	offers, _ := a.completeSubmissions([]string{"logsumexp"})
	assert.Contains(t, offers, "wrong_answer/shifts-in-place\tThe maximum is subtracted from the caller's numbers.")
	offers, _ = a.completeSubmissions([]string{"none"})
	assert.Empty(t, offers)
}
