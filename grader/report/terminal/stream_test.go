package terminal

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStreamOfAPipe(t *testing.T) {
	s := NewStream(&bytes.Buffer{}, func(string) string { return "" })
	assert.False(t, s.IsTerminal() || s.Live || s.Color)
	r, w, err := os.Pipe()
	assert.NoError(t, err)
	defer r.Close()
	defer w.Close()
	assert.False(t, NewStream(w, func(string) string { return "" }).IsTerminal())
}
