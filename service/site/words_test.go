package site

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/service"
)

// mainOf is what a page says of a view.
func mainOf(t *testing.T, page string, view any) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, pages[page].ExecuteTemplate(&b, "main", frame{View: view}))
	return b.String()
}

// What is counted is said of none, of one and of more.
func TestNoneOneAndMore(t *testing.T) {
	for n, want := range []string{
		"<p>No submission was built and tested.</p>",
		"<p>No check failed in the one submission that was built and tested.</p>",
		"<p>No check failed in any of the 2 submissions that were built and tested.</p>",
	} {
		assert.Contains(t, mainOf(t, "checks", checksView{Students: n}), want)
	}
	for n, want := range []string{"<p>Nothing yet.</p>", "<p>Nothing yet. The first attempt counts.</p>", "<p>Nothing yet. The first 2 attempts count.</p>"} {
		assert.Contains(t, mainOf(t, "exercise", exerciseView{exerciseRow: exerciseRow{Limit: n}}), want)
	}
	for n, want := range []string{"waiting: next in the queue", "waiting: 1 submission is ahead of it", "waiting: 2 submissions are ahead of it"} {
		assert.Equal(t, want, stageWords(service.Attempt{Stage: service.Waiting, Ahead: n}))
	}
	assert.Equal(t, "the first 2 attempts", firstAttempts(2))
	assert.Contains(t, takenWords(2), "the course counts the first 2, and those ")
	assert.Contains(t, mainOf(t, "exercise", exerciseView{}), "no due date")
}

// A page of a problem is headed for people, whatever HTTP calls it.
func TestHeadings(t *testing.T) {
	for status, want := range map[int]string{
		http.StatusUnauthorized: "You are not signed in", http.StatusForbidden: "This is not for you", http.StatusNotFound: "There is nothing here",
		http.StatusTooManyRequests: "Please wait a little", http.StatusInternalServerError: "The service cannot do this now", http.StatusServiceUnavailable: "The service cannot do this now",
		http.StatusConflict: "This could not be done", http.StatusGone: "This could not be done", http.StatusUnprocessableEntity: "This could not be done",
	} {
		assert.Equal(t, want, (&Problem{Status: status}).Heading(), status)
	}
	w := newWorld(t)
	page := w.nobody().get("/").body
	assert.Contains(t, page, "<title>You are not signed in · ")
	assert.Contains(t, page, "<h1>You are not signed in</h1>")
	assert.Contains(t, w.nobody().json().get("/").body, `"title":"Unauthorized"`)
}
