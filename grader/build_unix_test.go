//go:build unix

package grader

import (
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without a folder for what is kept, no file of the current folder is read.
func TestNothingKeptIsRead(t *testing.T) {
	w := newWorld(t)
	t.Chdir(t.TempDir())
	require.NoError(t, syscall.Mkfifo(programSuffix, 0o600))
	var read atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f, err := os.OpenFile(programSuffix, os.O_WRONLY, 0) // waits for a reader
		read.Store(true)
		if err == nil {
			f.Close()
		}
	}()
	_, err := w.grade(t)
	assert.NoError(t, err)
	assert.False(t, read.Load())
	f, err := os.OpenFile(programSuffix, os.O_RDONLY|syscall.O_NONBLOCK, 0) // lets the writer end
	require.NoError(t, err)
	<-ended
	require.NoError(t, f.Close())
}
