package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Stream is an output and what it can show. The zero values of its fields suit a pipe.
type Stream struct {
	io.Writer
	Live  bool // a terminal on which a line can be drawn again
	Color bool
	Width int // columns; 0: not a terminal, lines are not broken
}

// maxWidth keeps prose readable on a wide screen.
const maxWidth = 100

// NewStream finds out what w can show. Env looks up a variable: TERM and NO_COLOR are
// honoured.
func NewStream(w io.Writer, env func(string) string) Stream {
	s := Stream{Writer: w}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	s.Live = env("TERM") != "dumb"
	s.Color = s.Live && env("NO_COLOR") == ""
	s.Width = 80
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		s.Width = min(width, maxWidth)
	}
	return s
}

// IsTerminal reports whether a person is watching.
func (s Stream) IsTerminal() bool { return s.Width > 0 }

// Palette returns the stream's palette.
func (s Stream) Palette() Palette { return NewPalette(s.Color) }
