package gradebook

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/verdict"
)

var due = time.Date(2026, 12, 1, 23, 59, 0, 0, time.UTC)

// handed is an attempt of ada's, so late, with that score.
func handed(number int, late time.Duration, score int) Attempt {
	return Attempt{
		Student: "ada", Exercise: "gears", Number: number, Submitted: due.Add(late), Source: "the server", Folder: "students/ada/gears",
		Result: &verdict.Result{Verdict: verdict.Graded, Score: score, MaxScore: 100},
	}
}

// gears is a policy of one exercise.
func gears(change func(*course.Rules)) *course.Policy {
	p := course.NewPolicy()
	r := p.Defaults
	r.Exercise, r.Due = "gears", due
	change(&r)
	p.Exercises = []course.Rules{r}
	return p
}

const day = 24 * time.Hour

func TestRules(t *testing.T) {
	tenADay := &course.Late{Deduct: 10, Per: day, Most: 50, Until: 7 * day, Grace: 15 * time.Minute}
	unlisted := handed(1, -day, 90)
	unlisted.Unlisted = true
	nothing := without(verdict.Invalid)
	nothing.Result.Problems = []verdict.Problem{{Rule: RuleNoFiles}}
	nothingMore := nothing
	nothingMore.Number = 2
	unknown := handed(1, 0, 90)
	unknown.Submitted = time.Time{}
	for name, c := range map[string]struct {
		late     *course.Late
		attempts int
		count    course.Count
		handed   []Attempt
		counts   int // the number of the attempt
		points   float64
		why      []string // parts of what the rules say
	}{
		"in time to the second":           {handed: []Attempt{handed(1, 0, 90)}, counts: 1, points: 90},
		"late without a rule":             {handed: []Attempt{handed(1, time.Second, 90)}, points: 0, why: []string{"Attempt 1 was handed in at 2026-12-01 23:59:01 UTC (by the server), 1 s late: it does not count."}},
		"late, an earlier one stands":     {handed: []Attempt{handed(1, -day, 40), handed(2, day, 90)}, counts: 1, points: 40, why: []string{"Attempt 2 was", "Attempt 1 of 2 counts: the course counts the best attempt that its rules allow."}},
		"within the grace":                {late: tenADay, handed: []Attempt{handed(1, 15*time.Minute, 90)}, counts: 1, points: 90, why: []string{"Attempt 1 was handed in 15 min after it was due, within the grace period: it counts as in time."}},
		"refused":                         {handed: []Attempt{without(verdict.Invalid)}, counts: 1, points: 0, why: []string{"Attempt 1 has no points: it was refused before anything of it ran."}},
		"nothing is there":                {handed: []Attempt{nothing}, counts: 1, points: 0, why: []string{"Attempt 1 has no points: nothing was handed in, there is no Go file."}},
		"a folder made in advance":        {attempts: 1, handed: []Attempt{nothing, handed(2, -day, 90)}, counts: 2, points: 90, why: []string{"Attempt 2 of 2 counts"}},
		"emptied after the work":          {count: course.CountLast, handed: []Attempt{handed(1, -2*day, 90), nothingMore}, counts: 1, points: 90},
		"does not compile":                {handed: []Attempt{without(verdict.CompileError)}, counts: 1, points: 0, why: []string{"Attempt 1 has no points: it does not compile."}},
		"after the grace, from the start": {late: tenADay, handed: []Attempt{handed(1, 15*time.Minute+1, 90)}, counts: 1, points: 81, why: []string{"16 min late: 10 % are taken off, so 81 of its 90 points count."}},
		"a day to the second":             {late: tenADay, handed: []Attempt{handed(1, day, 90)}, counts: 1, points: 81, why: []string{"1 d 0 h 0 min late: 10 % are taken off"}},
		"a second day has begun":          {late: tenADay, handed: []Attempt{handed(1, day+1, 77)}, counts: 1, points: 61.6, why: []string{": 20 % are taken off, so 61.6 of its 77 points count."}},
		"at most":                         {late: tenADay, handed: []Attempt{handed(1, 6*day+1, 90)}, counts: 1, points: 45, why: []string{": 50 % are taken off"}},
		"the end":                         {late: tenADay, handed: []Attempt{handed(1, 7*day+1, 90)}, points: 0, why: []string{"it does not count, late work was accepted until 2026-12-08 23:59:00 UTC."}},
		"once":                            {late: &course.Late{Deduct: 20, Most: 100}, handed: []Attempt{handed(1, 99*day, 90)}, counts: 1, points: 72, why: []string{": 20 % are taken off"}},
		"nothing is taken":                {late: &course.Late{Most: 100}, handed: []Attempt{handed(1, day, 90)}, counts: 1, points: 90, why: []string{": 0 % are taken off, so 90 of its 90 points count."}},
		"not in the table":                {handed: []Attempt{unlisted}, counts: 1, points: 90, why: []string{"The table of times does not have attempt 1: by the server, it was handed in at 2026-11-30 23:59:00 UTC."}},
		"no time is in time":              {handed: []Attempt{unknown}, counts: 1, points: 90, why: []string{"is not known: it counts as in time"}},
		"best, the first of equals":       {handed: []Attempt{handed(1, -3*day, 90), handed(2, -2*day, 90), handed(3, -day, 10)}, counts: 1, points: 90, why: []string{"Attempt 1 of 3 counts"}},
		"best, after what is taken":       {late: tenADay, handed: []Attempt{handed(1, -day, 85), handed(2, day, 90)}, counts: 1, points: 85, why: []string{"Attempt 1 of 2"}},
		"last":                            {count: course.CountLast, handed: []Attempt{handed(1, -2*day, 90), handed(2, -day, 10)}, counts: 2, points: 10, why: []string{"Attempt 2 of 2 counts: the course counts the last attempt that its rules allow."}},
		"last that is allowed":            {count: course.CountLast, handed: []Attempt{handed(1, -2*day, 90), handed(2, day, 10)}, counts: 1, points: 90},
		"last, by the time it came":       {count: course.CountLast, handed: []Attempt{handed(1, -day, 10), handed(2, -2*day, 90)}, counts: 2, points: 10},
		"too many attempts":               {attempts: 2, handed: []Attempt{handed(1, -3*day, 10), handed(2, -2*day, 20), handed(3, -day, 90)}, counts: 2, points: 20, why: []string{"Attempt 3 does not count: the course counts only the first 2 that are graded."}},
		"more than one":                   {attempts: 1, handed: []Attempt{handed(1, -2*day, 10), handed(2, -day, 90)}, counts: 1, points: 10, why: []string{"Attempt 2 does not count: the course counts only the first that is graded."}},
		"some were replaced":              {attempts: 2, handed: []Attempt{handed(3, -3*day, 10), handed(5, -2*day, 20), handed(9, -day, 90)}, counts: 5, points: 20, why: []string{"Attempt 5 of 9 counts", "Attempt 9 does not count: the course counts only the first 2 that are graded."}},
	} {
		t.Run(name, func(t *testing.T) {
			p := gears(func(r *course.Rules) {
				r.Late, r.Attempts = c.late, c.attempts
				if c.count != "" {
					r.Count = c.count
				}
			})
			b := New(p, []string{"gears"}, c.handed, nil)
			cell, ok := b.Find("ada", "gears")
			require.True(t, ok)
			require.NotNil(t, cell.Points)
			assert.InDelta(t, c.points, *cell.Points, 1e-9)
			assert.InDelta(t, c.points, *b.Rows[0].Total, 1e-9, "the only exercise")
			if c.counts == 0 {
				assert.Nil(t, cell.Counts)
			} else {
				assert.Equal(t, c.counts, cell.Counts.Number)
			}
			said := strings.Join(cell.Rules, "\n")
			for _, part := range c.why {
				assert.Contains(t, said, part)
			}
			if len(c.why) == 0 && len(c.handed) == 1 {
				assert.Empty(t, said)
			}
		})
	}
}

// without is an attempt in time that no check of has run.
func without(v verdict.Verdict) Attempt {
	a := handed(1, -day, 0)
	a.Result.Verdict = v
	return a
}

func TestExtension(t *testing.T) {
	p := gears(func(*course.Rules) {})
	p.Extensions = []course.Extension{{Student: "ada", Due: due.Add(2 * day)}}
	cell, _ := New(p, []string{"gears"}, []Attempt{handed(1, day, 90)}, nil).Find("ada", "gears")
	assert.InDelta(t, 90, *cell.Points, 0)
	assert.Equal(t, []string{"The due time was extended to 2026-12-03 23:59:00 UTC."}, cell.Rules)
}

// The total is the weighted mean; what has no verdict leaves it open, and what was not
// handed in does not.
func TestTotal(t *testing.T) {
	p := gears(func(r *course.Rules) { r.Weight, r.Due = 3, time.Time{} })
	levers := course.Rules{Exercise: "levers", Weight: 1, Count: course.CountBest}
	p.Exercises = append(p.Exercises, levers)
	names := []string{"gears", "levers", "screws"}
	more := handed(1, 0, 50)
	more.Exercise = "levers"
	extra := handed(1, 0, 100)
	extra.Exercise, extra.Student = "screws", "bob"

	b := New(p, names, []Attempt{handed(1, 0, 91), more, extra}, nil)
	require.Len(t, b.Columns, 3)
	assert.Zero(t, b.Columns[2].Weight, "it is not in the rules")
	assert.InDelta(t, 80.75, *b.Rows[0].Total, 1e-9)
	assert.InDelta(t, 0, *b.Rows[1].Total, 1e-9)
	assert.Nil(t, b.Rows[1].Cells[0].Points, "nothing was handed in")

	b = New(p, names, []Attempt{handed(1, 0, 91)}, []Missing{{Student: "ada", Exercise: "levers", Why: "the engine is gone"}})
	assert.Nil(t, b.Rows[0].Total)
	assert.Nil(t, b.Rows[0].Cells[1].Points)

	b = New(p, names, []Attempt{handed(1, 0, 91)}, []Missing{{Student: "ada", Exercise: "gears"}})
	assert.InDelta(t, 91, *b.Rows[0].Cells[0].Points, 0, "an old grade stands")
	assert.Contains(t, b.Rows[0].Cells[0].Rules[0], "no verdict yet")
	assert.InDelta(t, 68.25, *b.Rows[0].Total, 1e-9)

	b = New(p, names, nil, []Missing{{Student: "eve", Why: "cannot tell the exercise"}})
	assert.Nil(t, b.Rows[0].Total)
	assert.Len(t, b.Rows[0].Unknown, 1)
	assert.Len(t, b.Columns, 2)
}

// Reports tell of what was handed in last, or of what a run was about, whichever counts.
func TestShown(t *testing.T) {
	better, worse := handed(1, -2*day, 90), handed(2, -day, 10)
	cell := func(missing ...Missing) Cell {
		c, ok := New(gears(func(*course.Rules) {}), []string{"gears"}, []Attempt{better, worse}, missing).Find("ada", "gears")
		require.True(t, ok)
		assert.Equal(t, 1, c.Counts.Number)
		return c
	}
	assert.Equal(t, 2, cell().Shown().Number)
	assert.Equal(t, 10, cell().Result().Score)
	better.Current = true
	assert.Equal(t, 1, cell().Shown().Number, "a job that is repeated")
	assert.Nil(t, cell(Missing{Student: "ada", Exercise: "gears"}).Shown(), "the faults of the one before may be mended")
	assert.Nil(t, Cell{}.Shown())
	assert.Nil(t, Cell{}.Result())
}

// A book of one run says nothing of what the run was not about.
func TestPart(t *testing.T) {
	p := gears(func(r *course.Rules) { r.Weight, r.Due = 1, time.Time{} })
	for _, name := range []string{"levers", "screws"} {
		p.Exercises = append(p.Exercises, course.Rules{Exercise: name, Weight: 1})
	}
	b := New(p, nil, []Attempt{handed(1, 0, 90)}, []Missing{{Student: "bo", Exercise: "screws"}})
	b.Roster = Roster{{Name: "Cem", SISLoginID: "cem"}}
	b.Part()
	assert.True(t, b.Partial)
	assert.Empty(t, b.Roster)
	require.Len(t, b.Columns, 2, "no student has work in levers")
	for _, row := range b.Rows {
		assert.Nil(t, row.Total)
		assert.Len(t, row.Cells, 2)
	}
	cell, _ := b.Find("bo", "screws")
	assert.NotNil(t, cell.Missing)
	_, ok := b.Find("ada", "levers")
	assert.False(t, ok)
}

func TestReadTimes(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	times, err := ReadTimes(strings.NewReader("\ufeffExercise, Student,submitted,attempt,more\ngears,ada,2026-12-01 12:00,,x\ngears,ada,2026-11-30T12:00:00Z,1,\n"), berlin)
	require.NoError(t, err)
	first := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	assert.True(t, first.Equal(times.At("ADA", "gears", 1)))
	assert.True(t, time.Date(2026, 12, 1, 11, 0, 0, 0, time.UTC).Equal(times.At("ada", "gears", 0)), "of the last attempt")
	assert.True(t, times.At("ada", "gears", 2).IsZero())
	assert.True(t, times.Mentions("ADA", "gears"))
	assert.True(t, times.Mentions("ada", ""))
	assert.False(t, times.Mentions("ada", "levers"))
	assert.False(t, (*Times)(nil).Mentions("ada", ""))
	assert.True(t, times.At("bob", "gears", 0).IsZero())
	assert.True(t, (*Times)(nil).At("ada", "gears", 0).IsZero())
	for text, want := range map[string]string{
		"":                                       "line 1: want a row that names the columns student, exercise, submitted",
		"student,exercise\n":                     `line 1: there is no column "submitted"`,
		"student,exercise,submitted\na,b,soon\n": `line 2: want a time such as`,
		"student,exercise,submitted,attempt\na,b,2026-12-01 12:00,0\n":               `line 2: attempt "0"`,
		"student,exercise,submitted\na,b,2026-12-01 12:00\n\na,b,2026-12-02 12:00\n": `line 4: a second time for a, b`,
		"student,exercise,submitted\na,b\n":                                          "record on line 2: wrong number of fields",
	} {
		_, err := ReadTimes(strings.NewReader(text), time.UTC)
		assert.ErrorContains(t, err, want)
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{1: "1 s", time.Minute: "1 min", 61 * time.Second: "2 min", time.Hour: "1 h 0 min", 25*time.Hour + 1: "1 d 1 h 1 min"} {
		assert.Equal(t, want, Span(d))
	}
}

// A report that lists the attempts of a student has their times in one zone.
func TestZoneOfTimes(t *testing.T) {
	p := NewPolicy([]string{"gears"})
	p.Zone = time.FixedZone("CET", 3600)
	listed, unknown := handed(2, day, 90), handed(3, 0, 90)
	listed.Listed, unknown.Submitted = due, time.Time{}
	cell, _ := p.Book([]Attempt{handed(1, -day, 90), listed, unknown}, nil).Find("ada", "gears")
	for _, a := range cell.Attempts {
		assert.True(t, a.Submitted.IsZero() || a.Submitted.Location() == p.Zone, a.Number)
	}
}

// What an attempt would count at a time is what the gradebook makes of one.
func TestCountsAt(t *testing.T) {
	due := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := NewPolicy([]string{"gears"})
	assert.InDelta(t, 100, p.CountsAt("ada", "gears", due.Add(time.Hour)), 0, "nothing is due")
	p.Defaults.Due = due
	assert.InDelta(t, 100, p.CountsAt("ada", "gears", due), 0)
	assert.InDelta(t, 0, p.CountsAt("ada", "gears", due.Add(time.Second)), 0, "late work is not accepted")
	p.Defaults.Late = &course.Late{Grace: time.Hour, Until: 48 * time.Hour, Per: 24 * time.Hour, Deduct: 10, Most: 50}
	for late, want := range map[time.Duration]float64{time.Hour: 100, time.Hour + 1: 90, 25 * time.Hour: 80, 49 * time.Hour: 0} {
		assert.InDelta(t, want, p.CountsAt("ada", "gears", due.Add(late)), 0, late)
		book := p.Book([]Attempt{{Student: "ada", Exercise: "gears", Number: 1, Submitted: due.Add(late), Result: &verdict.Result{Verdict: verdict.Graded, Score: 100, MaxScore: 100}}}, nil)
		assert.InDelta(t, want, *book.Rows[0].Cells[0].Points, 0, late)
	}
}
