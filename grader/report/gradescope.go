package report

import (
	"fmt"
	"io"

	"grade/grader/report/wording"
	"grade/grader/verdict"
)

type (
	gradescopeResult struct {
		Score            *int             `json:"score,omitempty"`
		ExecutionTime    float64          `json:"execution_time,omitempty"` // seconds
		Output           string           `json:"output"`
		OutputFormat     string           `json:"output_format"`
		TestOutputFormat string           `json:"test_output_format,omitempty"`
		TestNameFormat   string           `json:"test_name_format,omitempty"`
		Visibility       string           `json:"visibility"`
		StdoutVisibility string           `json:"stdout_visibility"`
		Tests            []gradescopeTest `json:"tests,omitempty"`
		ExtraData        any              `json:"extra_data,omitempty"`
	}
	gradescopeTest struct {
		Score     int      `json:"score"`
		MaxScore  int      `json:"max_score"`
		Status    string   `json:"status"`
		Name      string   `json:"name"`
		Number    string   `json:"number"`
		Output    string   `json:"output"`
		Tags      []string `json:"tags"`
		ExtraData any      `json:"extra_data"`
	}
	// gradescopeRun is what an instructor's program needs to repeat a grading.
	gradescopeRun struct {
		Schema         string `json:"schema"`
		Exercise       string `json:"exercise"`
		ExerciseHash   string `json:"exercise_hash"`
		SubmissionHash string `json:"submission_hash"`
		Verdict        string `json:"verdict"`
		Official       bool   `json:"official"`
		Seed           string `json:"seed"`
		Toolchain      string `json:"toolchain"`
		GraderVersion  string `json:"grader_version"`
	}
	gradescopeFigures struct {
		Verdict  string      `json:"verdict"`
		Ratio    *float64    `json:"ratio"`
		Limit    *float64    `json:"limit"`
		Interval *[2]float64 `json:"interval"`
	}
)

// writeGradescope writes r as results.json of Gradescope. Its maxima add up to those of
// the exercise, which is what the assignment has to be worth there.
//
// All of it is plain text and visible: a single hidden test would hide the total, and
// a result holds only what a student may see. What the wrapper prints stays hidden.
func writeGradescope(w io.Writer, r *verdict.Result) error {
	doc := newGradescope(wording.Overview(r))
	doc.Score = new(r.Score)
	doc.ExecutionTime = wording.Rounded(r.Phases.TotalMs/1000, 2)
	doc.TestOutputFormat, doc.TestNameFormat = "text", "text"
	doc.ExtraData = gradescopeRun{
		Schema: wording.Whole(r.Schema), Exercise: wording.Whole(r.Exercise), ExerciseHash: wording.Whole(r.ExerciseHash), SubmissionHash: wording.Whole(r.Submission.Hash),
		Verdict: wording.Whole(string(r.Verdict)), Official: r.Sandbox.Official, Seed: wording.Whole(r.Seed), Toolchain: wording.Whole(r.Toolchain),
		GraderVersion: wording.Whole(r.GraderVersion),
	}
	number := map[string]int{}
	for i, s := range wording.Sections(r.Checks) {
		for _, c := range s.Checks {
			number[c.Kind]++
			doc.Tests = append(doc.Tests, newGradescopeTest(c, fmt.Sprintf("%d.%d", i+1, number[c.Kind])))
		}
	}
	return writeJSON(w, doc)
}

func newGradescope(output string) gradescopeResult {
	return gradescopeResult{Output: output, OutputFormat: "text", Visibility: "visible", StdoutVisibility: "hidden"}
}

func newGradescopeTest(c verdict.CheckResult, number string) gradescopeTest {
	t := gradescopeTest{
		Score: c.Points, MaxScore: c.MaxPoints, Status: "failed", Name: wording.Name(c.Name), Number: number,
		Output: wording.Paragraphs(wording.CheckVerdict(c), wording.Explain(c)), Tags: []string{wording.Name(c.Kind)},
		ExtraData: newGradescopeFigures(c),
	}
	if c.Verdict.Earns() {
		t.Status = "passed"
	}
	return t
}

// newGradescopeFigures has as many digits as the other reports show.
func newGradescopeFigures(c verdict.CheckResult) gradescopeFigures {
	f := gradescopeFigures{Verdict: wording.Whole(string(c.Verdict)), Limit: c.Limit}
	if c.Ratio != nil {
		f.Ratio = new(wording.Rounded(*c.Ratio, 3))
	}
	if c.Interval != nil {
		f.Interval = &[2]float64{wording.Rounded(c.Interval[0], 3), wording.Rounded(c.Interval[1], 3)}
	}
	return f
}

// gradescopeNoVerdict has no score and no tests, so that Gradescope does not take it
// for a grade of 0: it tells of a failed autograder, and earlier submissions keep
// their scores.
func gradescopeNoVerdict(message string) any { return newGradescope(message) }
