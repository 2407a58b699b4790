package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/service/client"
)

// remotely is a submit to a service that answers a hand-in with an attempt.
func remotely(t *testing.T, attempt string, events http.HandlerFunc) *session {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ring/attempts", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, attempt) })
	mux.HandleFunc("GET /ring/attempts/1/events", events)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s := newSession(t, nil)
	s.app.courseDir, s.server, s.exercise = "", server.URL, "ring"
	s.env = func(string) string { return "token" }
	return s
}

// An attempt is named by the service's address, without the path that was given: that may be
// of an exercise, or a secret.
func TestAddressOfAnAttempt(t *testing.T) {
	for server, want := range map[string]string{
		"https://grade.example.org":              "https://grade.example.org",
		"https://grade.example.org/autograd":     "https://grade.example.org",
		"https://grade.example.org/enter/secret": "https://grade.example.org",
		"127.0.0.1:8080/":                        "http://127.0.0.1:8080",
	} {
		s := newSession(t, nil)
		s.server, s.remote = server, &client.Attempt{Number: 1, Address: "/ring/attempts/1"}
		require.NoError(t, s.counts())
		assert.Equal(t, "attempt 1 at "+want+"/ring/attempts/1\n", s.out.String())
	}
}

// Who interrupts the watching is told that the attempt is graded all the same, and where.
func TestInterruptedAttemptIsKept(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	const attempt = `{"number": 1, "stage": "waiting", "address": "/ring/attempts/1", "events": "/ring/attempts/1/events"}`
	s := remotely(t, attempt, func(http.ResponseWriter, *http.Request) { interrupt() })
	err := s.run(ctx)
	assert.Equal(t, exitInterrupted, s.app.exit(ctx, &cobra.Command{Use: "submit"}, err))
	assert.Equal(t, "grade: attempt 1 at ring is handed in and will be graded: "+s.server+"/ring/attempts/1\ngrade: interrupted\n", s.err.String())
}

// That there is no verdict is said once.
func TestAttemptWithoutVerdict(t *testing.T) {
	for words, want := range map[string]string{
		"no verdict: no Go file":           "no Go file",
		"no verdict yet: the grader fails": "the grader fails",
		"replaced by a later attempt":      "replaced by a later attempt",
	} {
		s := remotely(t, fmt.Sprintf(`{"number": 1, "stage": "no verdict", "words": %q}`, words), http.NotFound)
		err := s.run(t.Context())
		require.EqualError(t, err, "no verdict: attempt 1 at ring: "+want)
	}
}
