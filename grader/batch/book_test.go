package batch

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/fault"
	"grade/grader/gradebook"
	"grade/grader/intake"
	"grade/grader/results"
	"grade/grader/verdict"
)

// A folder whose exercise is unknown is all that a student has, or takes no total away.
func TestBookOfStrays(t *testing.T) {
	stray := func(student string) Item {
		told := &fault.Error{Message: "no exercise has a package notes", Told: "no exercise has a package notes"}
		return Item{Submission: intake.Submission{Student: student}, Err: told}
	}
	records := []results.Record{{Student: "ada", Exercise: "gears", Attempt: 1, Content: "a", Result: &verdict.Result{Score: 60, MaxScore: 100}}}
	book := Book(gradebook.NewPolicy([]string{"gears"}), records, nil, []Item{stray("ada"), stray("bob")})
	require.Len(t, book.Rows, 2)
	assert.Empty(t, book.Rows[0].Unknown)
	assert.NotNil(t, book.Rows[0].Total)
	assert.NotEmpty(t, book.Rows[1].Unknown)
	assert.Nil(t, book.Rows[1].Total)
}

// A row of the table of times is about the attempt that reports call by that number, in
// whatever order runs have kept them; one without a number about the last.
func TestTimesByNumber(t *testing.T) {
	hour := func(h int) time.Time { return time.Date(2026, 12, 1, h, 0, 0, 0, time.UTC) }
	records := []results.Record{
		{Student: "Ada", Exercise: "gears", Attempt: 1, Submitted: hour(12), Source: "the push", Content: "second", Result: &verdict.Result{Score: 60}},
		{Student: "Ada", Exercise: "gears", Attempt: 2, Submitted: hour(11), Source: "the push", Content: "first", Result: &verdict.Result{Score: 50}},
	}
	for table, want := range map[string][]int{
		"ada,gears,2026-12-01 09:00,1": {9, 12}, "ada,gears,2026-12-01 14:00,2": {11, 14}, "ada,gears,2026-12-01 15:00,": {11, 15},
	} {
		times, err := gradebook.ReadTimes(strings.NewReader("student,exercise,submitted,attempt\n"+table+"\n"), time.UTC)
		require.NoError(t, err)
		p := gradebook.NewPolicy([]string{"gears"})
		p.Listed = times
		cell, ok := Book(p, records, nil, nil).Find("ada", "gears")
		require.True(t, ok)
		var got []int
		for _, a := range cell.Attempts {
			got = append(got, a.Submitted.Hour())
		}
		assert.Equal(t, want, got, table)
		assert.Equal(t, []int{50, 60}, []int{cell.Attempts[0].Result.Score, cell.Attempts[1].Result.Score})
	}
}
