package site

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/service/people"
)

// slow is a reader of an answer, who lets a test look while something is written.
type slow struct {
	*httptest.ResponseRecorder
	until []time.Time
	look  func()
}

func (s *slow) SetWriteDeadline(at time.Time) error { s.until = append(s.until, at); return nil }

func (s *slow) Write(p []byte) (int, error) {
	if s.look != nil {
		s.look()
	}
	return s.ResponseRecorder.Write(p)
}

// A reader has time for each part of an answer, and no time without an end.
func TestWritesEnd(t *testing.T) {
	s := &slow{ResponseRecorder: httptest.NewRecorder()}
	n, err := (&watched{ResponseWriter: s}).Write(make([]byte, 2*writeSize+1))
	require.NoError(t, err)
	assert.Equal(t, 2*writeSize+1, n)
	assert.Equal(t, n, s.Body.Len())
	require.Len(t, s.until, 3)
	for _, at := range s.until {
		assert.False(t, at.IsZero())
	}
}

// Who reads the page of a regrade slowly keeps no one from a regrade.
func TestRegradePageHoldsNoLock(t *testing.T) {
	w := newWorld(t)
	free := false
	s := &slow{ResponseRecorder: httptest.NewRecorder(), look: func() {
		if free = w.site.regrade.mu.TryLock(); free {
			w.site.regrade.mu.Unlock()
		}
	}}
	q := &request{Site: w.site, Request: httptest.NewRequest(http.MethodGet, "/course/regrade", nil), w: s, person: &people.Person{Login: "root", Role: people.Admin}}
	require.NoError(t, q.regradePage())
	assert.True(t, free)
}
