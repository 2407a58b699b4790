package report

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// classroom50Schema names the format, classroom50Time how it writes times, which are UTC.
const (
	classroom50Schema = "classroom50/result/v1"
	classroom50Time   = "2006-01-02T15:04:05Z"
)

type (
	classroom50Result struct {
		Schema         string            `json:"schema"`
		Classroom      string            `json:"classroom"`
		Assignment     string            `json:"assignment"`
		AssignmentType string            `json:"assignment_type"`
		Owner          string            `json:"owner"`
		Submission     string            `json:"submission"`
		Commit         string            `json:"commit"`
		Release        string            `json:"release"`
		Review         string            `json:"review"`
		Datetime       string            `json:"datetime"` // of the commit: the same whenever it is graded
		GradedAt       string            `json:"graded_at"`
		Score          int               `json:"score"`
		MaxScore       int               `json:"max-score"`
		Tests          []classroom50Test `json:"tests"`
		SubmittedBy    *classroom50Actor `json:"submitted_by,omitempty"`
	}
	classroom50Test struct {
		Name     string `json:"test-name"`
		Passed   bool   `json:"passed"`
		Score    int    `json:"score"`
		MaxScore int    `json:"max-score"`
		// Further fields of a test are kept by Classroom 50 as they are.
		Kind    string `json:"kind"`
		Verdict string `json:"verdict"`
		Message string `json:"message"`
	}
	classroom50Actor struct {
		Username string `json:"username"`
		ID       *int64 `json:"id"`
	}
)

// writeClassroom50 writes r as classroom50/result/v1. Where the submission was refused or
// does not compile, the reason is the message of each of its tests, as the format has
// no other place for one.
func writeClassroom50(w io.Writer, r *verdict.Result, id Identity) error {
	if err := lacksClassroom50(id); err != nil {
		return err
	}
	committed, err := time.Parse(time.RFC3339, id.Committed)
	if err != nil {
		return err
	}
	doc := classroom50Result{
		Schema: classroom50Schema, Classroom: id.Classroom, Assignment: id.Assignment, AssignmentType: "individual",
		Owner: id.Student, Submission: id.Submission, Commit: id.Commit, Release: id.Release, Review: id.Review,
		Datetime: committed.UTC().Format(classroom50Time), GradedAt: r.Started.UTC().Format(classroom50Time),
		Score: r.Score, MaxScore: wording.MaxPoints(r), Tests: classroom50Tests(r),
	}
	if id.Group {
		doc.AssignmentType = "group"
	}
	if doc.Review == "" {
		doc.Review = id.Commit // as the format asks where there is nothing to compare with
	}
	if id.Actor != "" {
		doc.SubmittedBy = &classroom50Actor{Username: id.Actor}
		if id.ActorID != 0 {
			doc.SubmittedBy.ID = &id.ActorID
		}
	}
	return writeJSON(w, doc)
}

func classroom50Tests(r *verdict.Result) []classroom50Test {
	list := []classroom50Test{}
	for _, c := range r.Checks {
		t := classroom50Test{
			Name: wording.Whole(c.Name), Passed: c.Verdict.Earns(), Score: c.Points, MaxScore: c.MaxPoints,
			Kind: wording.Whole(c.Kind), Verdict: wording.Whole(string(c.Verdict)), Message: wording.Paragraphs(wording.CheckVerdict(c), wording.Explain(c)),
		}
		if r.Verdict != verdict.Graded {
			t.Verdict, t.Message = wording.Whole(string(r.Verdict)), wording.Paragraphs(append([]string{wording.Verdict(r.Verdict)}, wording.Problems(r)...)...)
		}
		list = append(list, t)
	}
	return list
}

// lacksClassroom50 names what the format requires and id has not, by the variables
// that Classroom 50 sets.
func lacksClassroom50(id Identity) error {
	var missing []string
	for _, f := range []struct{ name, value string }{
		{"CLASSROOM", id.Classroom}, {"ASSIGNMENT", id.Assignment}, {"USERNAME", id.Student},
		{"SUBMISSION_TAG", id.Submission}, {"COMMIT_URL", id.Commit}, {"RELEASE_URL", id.Release}, {"COMMIT_TIME", id.Committed},
	} {
		if f.value == "" {
			missing = append(missing, f.name)
		}
	}
	if len(missing) > 0 {
		return errors.New("the environment has no " + strings.Join(missing, ", "))
	}
	if !strings.HasPrefix(id.Submission, "submit/") {
		return fmt.Errorf("SUBMISSION_TAG %q does not begin with submit/", id.Submission)
	}
	if _, err := time.Parse(time.RFC3339, id.Committed); err != nil {
		return fmt.Errorf("COMMIT_TIME %q is no time: give it as git show -s --format=%%cI prints it", id.Committed)
	}
	return nil
}
