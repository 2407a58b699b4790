package engine

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course/coursetest"
	"grade/grader/submission"
	"grade/service"
)

// An upload that finds no room is refused at once, and there is still room for the results of
// what was acknowledged before. When there is room again it goes on, without a restart.
func TestFullDisk(t *testing.T) {
	d := newDisk(t)
	e, err := Open(t.Context(), Config{DataDir: filepath.Join(d.at, "data"), Grader: "g"})
	require.NoError(t, err)
	_, _, err = e.SetCourse(t.Context(), coursetest.FS(coursetest.Files()))
	require.NoError(t, err)
	ballast := d.fill(reserve + 8<<20)

	var kept acknowledged
	a, err := e.HandIn(t.Context(), uploadOf(0))
	for i := 1; err == nil; i++ {
		kept.attempts = append(kept.attempts, a)
		a, err = e.HandIn(t.Context(), large(i))
	}
	require.ErrorIs(t, err, service.ErrFull)
	require.ErrorContains(t, e.Alive(t.Context()), "make room")
	assert.Greater(t, len(kept.attempts), 3)
	for _, a := range kept.attempts {
		r := record(a)
		require.NoError(t, e.store.Append(r))
		kept.records = append(kept.records, r)
	}

	require.NoError(t, os.Remove(ballast))
	require.NoError(t, e.Alive(t.Context()))
	a, err = e.HandIn(t.Context(), uploadOf(1000))
	require.NoError(t, err)
	kept.attempts = append(kept.attempts, a)
	require.NoError(t, e.Close())
	assert.Empty(t, kept.lost(d))
}

// fill leaves so many bytes of a disk free, and returns the file that takes the others.
func (d *disk) fill(left int64) string {
	d.Helper()
	free, err := room(d.at)
	require.NoError(d, err)
	f, err := os.Create(filepath.Join(d.at, "ballast"))
	require.NoError(d, err)
	defer f.Close()
	require.NoError(d, syscall.Fallocate(int(f.Fd()), 0, 0, int64(free)-left))
	return f.Name()
}

// large is an upload of a mebibyte that cannot be packed.
func large(i int) service.Upload {
	u, text := uploadOf(i), make([]byte, 512<<10)
	rand.Read(text)
	u.Snapshot = submission.Of("upload", []submission.File{{Name: "a.go", Data: fmt.Appendf(nil, "package gears\n// %x\n", text)}})
	return u
}
