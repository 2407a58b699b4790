package site

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/batch"
	"grade/grader/report"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// Staff can load the gradebook down in every format that there is for many submissions.
func TestDownloads(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	ada, grace := w.signedIn("ada"), w.signedIn("grace")
	ada.handIn(gears, solution("one"))
	w.graded("ada", 1)
	page, formats := grace.get("/course").body, 0
	for _, f := range report.Formats() {
		address := "/course/gradebook/" + f.Name
		if !f.OfMany() {
			assert.Equal(t, http.StatusNotFound, grace.get(address).status, f.Name)
			continue
		}
		formats++
		got := grace.get(address)
		require.Equal(t, http.StatusOK, got.status, f.Name)
		assert.Contains(t, got.Header.Get("Content-Disposition"), "attachment", f.Name)
		assert.NotEmpty(t, got.body, f.Name)
		assert.Contains(t, page, address, "a link to it")
	}
	assert.Greater(t, formats, 3)
}

// perfect has all points, at a ratio of speed to the reference.
func perfect(s *submission.Snapshot, e *course.Exercise, ratio float64) *verdict.Result {
	r := resultOf(s, e)
	for i := range r.Checks {
		c := &r.Checks[i]
		c.Verdict, c.Points = verdict.Passed, c.MaxPoints
		if verdict.Kind(c.Kind) == verdict.Speed {
			c.Ratio = &ratio
		}
	}
	r.Score = r.MaxScore
	return r
}

// The board has the right solutions of who has chosen a name, the fastest first; a course that
// does not say so has none.
func TestBoard(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	speeds := map[string]float64{"ada": 2, "bo": 0.5}
	people := map[string]*as{"ada": w.signedIn("ada"), "bo": w.signedIn("bo"), "grace": w.signedIn("grace")}
	for login, p := range people {
		p.handIn(gears, solution(login))
		a := w.graded(login, 1)
		record := *a.Record
		s, err := w.engine.Source(t.Context(), login, gears, 1)
		require.NoError(t, err)
		ratio, ok := speeds[login]
		if !ok {
			continue // wrong, and without a name
		}
		record.Key, record.Result, record.Recorded = "perfect", perfect(s, w.course.Exercises[0], ratio), record.Recorded.Add(time.Second)
		require.NoError(t, w.engine.Store().Append(record))
	}
	board := func() (names []string) {
		for _, row := range decode[boardView](t, people["grace"].json().get("/gears/board")).Rows {
			names = append(names, row.Name)
		}
		return names
	}
	assert.Empty(t, board(), "none has chosen a name")
	for login, name := range map[string]string{"ada": "Countess", "bo": "Swift", "grace": "Admiral"} {
		require.Equal(t, http.StatusSeeOther, people[login].post("/account/name", url.Values{"name": {name}}).status)
	}
	assert.Equal(t, []string{"Swift", "Countess"}, board(), "the fastest first, and no wrong one")
	assert.Equal(t, http.StatusUnprocessableEntity, people["grace"].post("/account/name", url.Values{"name": {"swift"}}).status, "it is taken")
	require.Equal(t, http.StatusSeeOther, people["bo"].post("/account/name", url.Values{"name": {""}}).status)
	assert.Equal(t, []string{"Countess"}, board())
	w.course.Policy.Board = false
	assert.Equal(t, http.StatusNotFound, people["ada"].get("/gears/board").status)
	assert.Equal(t, http.StatusNotFound, people["ada"].post("/account/name", url.Values{"name": {"X"}}).status)
}

// A regrade shows what it would change, changes nothing until an admin has it hold, and is told
// to the student then.
func TestRegradeThatChanges(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	ada, grace, root := w.signedIn("ada"), w.signedIn("grace"), w.signedIn("root")
	ada.handIn(gears, solution("one"))
	was := w.graded("ada", 1).Record.Result.Score
	w.site.Regrade = func() (batch.Options, error) {
		return batch.Options{Exercises: w.course.Exercises, Grader: "another grader", Workers: 1, Now: w.clock,
			Grade: func(_ context.Context, s *submission.Snapshot, e *course.Exercise, _ string) (*verdict.Result, error) {
				return perfect(s, e, 1), nil
			}}, nil
	}
	score := func() int { return w.graded("ada", 1).Record.Result.Score }
	require.Equal(t, http.StatusSeeOther, grace.post("/course/regrade", nil).status)
	var v regradeView
	require.Eventually(t, func() bool {
		v = decode[regradeView](t, grace.json().get("/course/regrade"))
		return v.ID != "" && !v.Running
	}, time.Minute, 5*time.Millisecond)
	assert.Empty(t, v.Failed)
	assert.Equal(t, 1, v.Diff.Regraded)
	assert.Equal(t, was, score(), "nothing holds yet")
	page := root.get("/course/regrade").body
	assert.Contains(t, page, "an admin can let the new ones count")
	assert.Contains(t, page, "Let the new results count</button>")
	assert.Contains(t, page, "ada")
	assert.NotContains(t, grace.get("/course/regrade").body, "Let the new results count", "the button is an admin's")

	assert.Equal(t, http.StatusForbidden, grace.post("/course/regrade/apply", url.Values{"id": {v.ID}}).status, "staff do not decide")
	assert.Equal(t, http.StatusConflict, root.post("/course/regrade/apply", url.Values{"id": {"of another run"}}).status)
	require.Equal(t, http.StatusSeeOther, root.post("/course/regrade/apply", url.Values{"id": {v.ID}}).status)
	assert.Equal(t, 100, score())
	assert.Equal(t, http.StatusConflict, root.post("/course/regrade/apply", url.Values{"id": {v.ID}}).status, "once")
	assert.Contains(t, ada.get("/gears/attempts/1").body, "It was graded anew")
}
