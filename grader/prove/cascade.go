package prove

import (
	"cmp"
	"context"
	"path"
	"slices"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader"
	"grade/grader/verdict"
)

// The points that one mistake may cost in hidden tests that its expect.yaml does not name.
// Where an exercise has few tests, with many points each, one test is allowed: of a
// submission the dearest, in the median an average one.
const (
	maxBeyond       = 15 // of one submission
	maxMedianBeyond = 5  // as the median over an exercise's submissions
)

// Cascade is what the mistake of a shipped submission costs in hidden tests. The ideal is
// that it costs those checks that its expect.yaml declares.
type Cascade struct {
	Submission string   `json:"submission"`
	Lost       int      `json:"lost"`     // points, of hidden tests
	Declared   []string `json:"declared"` // hidden tests that have to fail by its expect.yaml
	Others     []string `json:"others"`   // hidden tests that fail too
	Beyond     int      `json:"beyond"`   // points of Others
	Reason     string   `json:"reason"`   // why it costs more, from its expect.yaml

	line int // of its expect.yaml
}

// oneMistake are the classes of submissions that are right but for one mistake.
var oneMistake = []fixture.Class{fixture.WrongAnswer, fixture.RuntimeError, fixture.TimeLimit, fixture.MemoryLimit}

// cascading returns the checks that are run of a submission to see what its mistake costs:
// those that its expectations are about, and of one mistake all hidden tests. Nil means all.
func cascading(e *course.Exercise, s fixture.Submission) []string {
	names := needed(e, s.Expect)
	if names == nil || !slices.Contains(oneMistake, s.Class) {
		return names
	}
	for _, c := range e.Checks {
		if c.Kind == verdict.Correctness && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// HoldWhole is Hold with all hidden tests, for a submission with one mistake, and returns what
// that costs. It returns no Cascade for others, and for those that got no grade.
func (s *Fixtures) HoldWhole(ctx context.Context, one fixture.Submission, o grader.Options) (*FixtureResult, *Cascade, error) {
	o.Checks = cascading(s.exercise, one)
	h, err := s.hold(ctx, one, o)
	if err != nil || h.Result.Verdict != verdict.Graded || !slices.Contains(oneMistake, one.Class) {
		return h, nil, err
	}
	c := cascadeOf(s.exercise, one, h.Result)
	return h, &c, nil
}

// MostBeyond returns the points that a mistake may cost in hidden tests that do not have to
// fail by its expect.yaml.
func MostBeyond(e *course.Exercise) int {
	largest, _ := testPoints(e)
	return max(maxBeyond, largest)
}

// cascadeOf returns what a submission's mistake costs.
func cascadeOf(e *course.Exercise, s fixture.Submission, r *verdict.Result) Cascade {
	c := Cascade{Submission: s.Name, Declared: []string{}, Others: []string{}, Reason: s.Expect.Cascade, line: s.Expect.Line("checks")}
	for _, got := range r.Checks {
		want, named := s.Expect.Checks[got.Name]
		switch {
		case got.Kind != string(verdict.Correctness):
		case named && want != verdict.Passed:
			c.Declared = append(c.Declared, got.Name)
			c.Lost += got.MaxPoints - got.Points
		case !got.Verdict.Earns():
			c.Others = append(c.Others, got.Name)
			c.Lost += got.MaxPoints
			c.Beyond += got.MaxPoints
		}
	}
	return c
}

// cascades sorts what mistakes cost, the dearest first, and finds those that cost too much.
func (c *Checking) cascades() {
	list := c.report.Cascades
	slices.SortFunc(list, func(a, b Cascade) int {
		return cmp.Or(cmp.Compare(b.Beyond, a.Beyond), cmp.Compare(a.Submission, b.Submission))
	})
	dir := path.Join("exercises", c.exercise.Name, course.SubmissionsDir)
	largest, _ := testPoints(c.exercise)
	for _, one := range list {
		if most := MostBeyond(c.exercise); one.Reason == "" && one.Beyond > most {
			c.find(path.Join(dir, one.Submission, course.ExpectFile), one.line, "one mistake costs %d points in %d hidden tests that are not declared here, more than %d%s: "+
				"let these tests need those that are declared (needs in exercise.yaml), or observe less, or say here why (cascade)", one.Beyond, len(one.Others), most, asOneTest(largest))
		}
	}
	c.report.MedianBeyond = medianBeyond(list)
}

// medianBeyond is the median of what mistakes without a reason cost beyond what they declare.
func medianBeyond(list []Cascade) int {
	var unexplained []int
	for _, one := range list {
		if one.Reason == "" {
			unexplained = append(unexplained, one.Beyond)
		}
	}
	return medianOf(unexplained)
}

// medianCascade finds mistakes that cost too much in the median, once all submissions are
// graded: of some of them the median says nothing about the exercise.
func (c *Checking) medianCascade() {
	_, mean := testPoints(c.exercise)
	if median, most := c.report.MedianBeyond, max(maxMedianBeyond, mean); median > most {
		dir := path.Join("exercises", c.exercise.Name, course.SubmissionsDir)
		c.find(dir, 0, "half of the mistakes without a reason (cascade) cost %d points or more in hidden tests that they do not declare; want less than half of them above %d%s", median, most, asAverage(mean))
	}
}

// asOneTest says why a limit is above the usual one: one test of the exercise has as many
// points.
func asOneTest(largest int) string {
	if largest <= maxBeyond {
		return ""
	}
	return " (which one hidden test has)"
}

// asAverage says why the limit of the median is above the usual one: the tests of the
// exercise have so many points on average.
func asAverage(mean int) string {
	if mean <= maxMedianBeyond {
		return ""
	}
	return " (which a hidden test has on average)"
}

// testPoints returns the most points of a hidden test, and the mean of all.
func testPoints(e *course.Exercise) (largest, mean int) {
	tests, sum := 0, 0
	for _, check := range e.Checks {
		if check.Kind == verdict.Correctness {
			tests, sum, largest = tests+1, sum+check.Points, max(largest, check.Points)
		}
	}
	return largest, sum / max(1, tests)
}

// medianOf returns the lower median; 0 of none.
func medianOf(points []int) int {
	if len(points) == 0 {
		return 0
	}
	slices.Sort(points)
	return points[(len(points)-1)/2]
}
