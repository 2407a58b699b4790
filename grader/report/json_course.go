package report

import (
	_ "embed"
	"io"
	"time"

	"grade/exercises/course"
	"grade/grader/gradebook"
	"grade/grader/verdict"
)

// gradebookSchemaID names the format of a gradebook as JSON.
const gradebookSchemaID = "grade/book/v1"

// GradebookSchema is the JSON Schema (2020-12) of a book as JSON, with a description of every
// field.
//
//go:embed gradebook.schema.json
var GradebookSchema []byte

type (
	gradebookDocument struct {
		Schema    string              `json:"schema"`
		Title     string              `json:"title"`
		Partial   bool                `json:"partial"`
		Exercises []gradebookExercise `json:"exercises"`
		Students  []gradebookStudent  `json:"students"`
	}
	gradebookExercise struct {
		Exercise string         `json:"exercise"`
		MaxScore int            `json:"max_score"`
		Weight   float64        `json:"weight"`
		Due      *time.Time     `json:"due"`
		Late     *gradebookLate `json:"late"`
		Attempts int            `json:"attempts"` // 0: all count
		Count    string         `json:"count"`
		Canvas   string         `json:"canvas"`
	}
	gradebookLate struct {
		GraceS        float64 `json:"grace_s"`
		DeductPercent float64 `json:"deduct_percent"`
		PerS          float64 `json:"per_s"`
		MostPercent   float64 `json:"most_percent"`
		UntilS        float64 `json:"until_s"`
	}
	gradebookStudent struct {
		Student      string             `json:"student"`
		TotalPercent *float64           `json:"total_percent"`
		Cells        []gradebookCell    `json:"cells"`
		Unknown      []gradebookMissing `json:"unknown"`
	}
	gradebookCell struct {
		Exercise string             `json:"exercise"`
		Score    *int               `json:"score"`
		Points   *float64           `json:"points"`
		Counts   *int               `json:"counts"`
		Shown    *int               `json:"shown"`
		Rules    []string           `json:"rules"`
		Attempts []gradebookAttempt `json:"attempts"`
		Missing  *gradebookMissing  `json:"missing"`
	}
	gradebookAttempt struct {
		Number         int             `json:"number"`
		Submitted      *time.Time      `json:"submitted"`
		Source         string          `json:"source"`
		Folder         string          `json:"folder"`
		Verdict        verdict.Verdict `json:"verdict"`
		Score          int             `json:"score"`
		MaxScore       int             `json:"max_score"`
		Official       bool            `json:"official"`
		SubmissionHash string          `json:"submission_hash"`
		ExerciseHash   string          `json:"exercise_hash"`
		Seed           string          `json:"seed"`
		Toolchain      string          `json:"toolchain"`
		GraderVersion  string          `json:"grader_version"`
		Started        time.Time       `json:"started"`
	}
	gradebookMissing struct {
		Folder string `json:"folder"`
		Told   string `json:"told"`
	}
)

// writeJSONCourse writes b as one document, valid against [GradebookSchema]: what every cell
// counts and why, and of every attempt where its score comes from. Its characters are
// those of [JSON].
func writeJSONCourse(w io.Writer, b *gradebook.Book) error {
	doc := gradebookDocument{Schema: gradebookSchemaID, Title: b.Title, Partial: b.Partial, Exercises: []gradebookExercise{}, Students: []gradebookStudent{}}
	for _, c := range b.Columns {
		doc.Exercises = append(doc.Exercises, newGradebookExercise(c))
	}
	for _, r := range b.Rows {
		s := gradebookStudent{Student: r.Student, TotalPercent: r.Total, Cells: []gradebookCell{}, Unknown: []gradebookMissing{}}
		for i, c := range r.Cells {
			s.Cells = append(s.Cells, newGradebookCell(b.Columns[i].Exercise, c))
		}
		for _, m := range r.Unknown {
			s.Unknown = append(s.Unknown, gradebookMissing{m.Folder, m.Told})
		}
		doc.Students = append(doc.Students, s)
	}
	out, err := encodeJSON(doc, false)
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

func newGradebookExercise(c gradebook.Column) gradebookExercise {
	return gradebookExercise{
		Exercise: c.Exercise, MaxScore: c.Max, Weight: c.Weight, Due: known(c.Due), Late: newGradebookLate(c.Late),
		Attempts: c.Attempts, Count: string(c.Count), Canvas: c.Canvas,
	}
}

func newGradebookLate(l *course.Late) *gradebookLate {
	if l == nil {
		return nil
	}
	return &gradebookLate{l.Grace.Seconds(), l.Deduct, l.Per.Seconds(), l.Most, l.Until.Seconds()}
}

func newGradebookCell(exercise string, c gradebook.Cell) gradebookCell {
	out := gradebookCell{Exercise: exercise, Points: c.Points, Rules: orEmpty(c.Rules), Attempts: []gradebookAttempt{}}
	if c.Counts != nil {
		out.Counts, out.Score = &c.Counts.Number, &c.Counts.Result.Score
	}
	if a := c.Shown(); a != nil {
		out.Shown = &a.Number
	}
	if c.Missing != nil {
		out.Missing = &gradebookMissing{c.Missing.Folder, c.Missing.Told}
	}
	for _, a := range c.Attempts {
		out.Attempts = append(out.Attempts, newGradebookAttempt(a))
	}
	return out
}

func newGradebookAttempt(a gradebook.Attempt) gradebookAttempt {
	r := a.Result
	return gradebookAttempt{
		Number: a.Number, Submitted: known(a.Submitted), Source: a.Source, Folder: a.Folder,
		Verdict: r.Verdict, Score: r.Score, MaxScore: r.MaxScore, Official: r.Sandbox.Official,
		SubmissionHash: r.Submission.Hash, ExerciseHash: r.ExerciseHash, Seed: r.Seed,
		Toolchain: r.Toolchain, GraderVersion: r.GraderVersion, Started: r.Started,
	}
}

// known returns a time, or nil if it is not known.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
