package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/fault"
)

func TestAddress(t *testing.T) {
	for given, want := range map[string]string{
		"grade.example.org":                        "https://grade.example.org",
		"127.0.0.1:8080":                           "http://127.0.0.1:8080",
		"localhost/mean":                           "http://localhost",
		"https://grade.example.org/":               "https://grade.example.org",
		"http://127.0.0.1:8080/enter/secret?x=y#z": "http://127.0.0.1:8080",
	} {
		u, err := Address(given)
		require.NoError(t, err)
		assert.Equal(t, want, u.String())
	}
	for _, bad := range []string{"", "ftp://x", "https://", "http://%"} {
		_, err := Address(bad)
		assert.Equal(t, fault.Caller, fault.KindOf(err), bad)
	}
}

// A token goes to its own service alone, wherever that sends on to or says that things are.
func TestTokenStaysAtHome(t *testing.T) {
	var leaked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		leaked.Store(true)
		t.Errorf("%s was asked with %q", r.URL, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "Bearer token", r.Header.Get("Authorization"))
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(home.Close)
	c, err := New(home.URL, "token")
	require.NoError(t, err)
	_, err = c.Exercises(t.Context())
	require.ErrorContains(t, err, "where the token does not belong")
	for _, address := range []string{other.URL + "/x", "//" + other.Listener.Addr().String() + "/x"} {
		_, err = c.Attempt(t.Context(), address)
		require.ErrorContains(t, err, "an address that is not its own")
	}
	assert.False(t, leaked.Load())
}

// Streams that end early, one after another, are no failures of a service that answers.
func TestFollowsManyStreams(t *testing.T) {
	defer func(was time.Duration) { retry = was }(retry)
	retry = 0
	var asked atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	mux.HandleFunc("GET /attempt", func(w http.ResponseWriter, _ *http.Request) {
		stage := "grading"
		if asked.Add(1) > 2*patience {
			stage = "graded"
		}
		fmt.Fprintf(w, `{"number":1,"stage":%q,"address":"/attempt","events":"/events"}`, stage)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c, err := New(server.URL, "")
	require.NoError(t, err)
	waiting := Attempt{Number: 1, Stage: "waiting", Address: "/attempt", Events: "/events"}
	a, err := c.Follow(t.Context(), waiting, func(News) {})
	require.NoError(t, err)
	assert.Equal(t, "graded", a.Stage)

	waiting.Address = "/nothing"
	_, err = c.Follow(t.Context(), waiting, func(News) {})
	assert.ErrorContains(t, err, "does not answer any more: ")
	assert.NotContains(t, err.Error(), "%!")
}

// A stream that breaks off is taken up again, and the attempt is followed to its end.
func TestFollowsABrokenStream(t *testing.T) {
	var streams atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, ": still here\n\ndata: {\"stage\":\"grading\",\"words\":\"being graded %d\"}\n\n", streams.Add(1))
		if streams.Load() == 1 {
			panic(http.ErrAbortHandler) // the connection breaks
		}
	})
	mux.HandleFunc("GET /attempt", func(w http.ResponseWriter, _ *http.Request) {
		stage := "grading"
		if streams.Load() == 2 {
			stage = "graded"
		}
		fmt.Fprintf(w, `{"number":1,"stage":%q,"address":"/attempt","events":"/events"}`, stage)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c, err := New(server.URL, "")
	require.NoError(t, err)
	var heard []string
	a, err := c.Follow(t.Context(), Attempt{Number: 1, Stage: "waiting", Address: "/attempt", Events: "/events"}, func(n News) { heard = append(heard, n.Words) })
	require.NoError(t, err)
	assert.Equal(t, "graded", a.Stage)
	assert.Contains(t, heard, "being graded 2")
}

func TestRefusals(t *testing.T) {
	answer, status := `{"detail":"no","advice":"do"}`, http.StatusTooManyRequests
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(server.Close)
	c, err := New(server.URL, "")
	require.NoError(t, err)
	_, err = c.Exercises(t.Context())
	var refusal *Refusal
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, "do", refusal.Hint())
	assert.Equal(t, fault.Caller, fault.KindOf(err))
	answer, status = "<html>", http.StatusBadGateway
	_, err = c.Exercises(t.Context())
	require.ErrorContains(t, err, "answers 502 Bad Gateway")
	assert.Equal(t, fault.Ours, fault.KindOf(err))
}

// Tokens are of this user alone, one for each service.
func TestTokens(t *testing.T) {
	f := Tokens{filepath.Join(t.TempDir(), "grade", "tokens.json")}
	token, err := f.Of("https://a.example.org")
	require.NoError(t, err)
	assert.Empty(t, token)
	require.NoError(t, f.Keep("https://a.example.org/x", "one"))
	require.NoError(t, f.Keep("b.example.org", "two"))
	token, err = f.Of("a.example.org")
	require.NoError(t, err)
	assert.Equal(t, "one", token)
	info, err := os.Stat(f.Name)
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	require.NoError(t, os.WriteFile(f.Name, []byte("{"), 0o600))
	_, err = f.Of("a.example.org")
	assert.Equal(t, fault.Caller, fault.KindOf(err))
}

// Who waits for a code to be approved goes on when asked too often, and while a service has a
// fault of its own; a code that is refused ends it.
func TestWaitGoesOn(t *testing.T) {
	answers := []int{http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusAccepted, http.StatusOK}
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(answers[0])
		answers = answers[1:]
		fmt.Fprint(w, `{"detail": "not now", "token": "grade_x", "login": "ada"}`)
	}))
	t.Cleanup(home.Close)
	c, err := New(home.URL, "")
	require.NoError(t, err)
	g, err := c.Wait(t.Context(), Request{Code: "X", Seconds: 60})
	require.NoError(t, err)
	assert.Equal(t, Granted{Token: "grade_x", Login: "ada"}, g)
	answers = []int{http.StatusGone}
	_, err = c.Wait(t.Context(), Request{Code: "X", Seconds: 60})
	require.ErrorContains(t, err, "not now")
}
