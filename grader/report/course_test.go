package report

import (
	"bytes"
	"maps"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/gradebook"
	"grade/grader/report/sample"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// courseElements are all that a course's page consists of.
var courseElements = func() map[string]string {
	all := maps.Clone(pageElements)
	maps.Copy(all, map[string]string{
		"main": "class", "h3": "id", "div": "class role aria-labelledby tabindex", "table": "class aria-labelledby", "tfoot": "",
		"tbody": "", "nav": "aria-label", "td": "class data-value", "details": "class", "span": "class", "dl": "id",
		"script": "",
	})
	return all
}()

// readCourse finds a row and a part for every student.
func readCourse(t *testing.T, out []byte, b *gradebook.Book) {
	count := pageOf(t, out, courseElements)
	assert.Equal(t, 1, count["h1"])
	assert.Equal(t, count["svg"], count["figure"])
	results := 0
	for _, r := range b.Rows {
		for _, c := range r.Cells {
			if !wording.NotTold(b, c) {
				results++
			}
		}
		results += len(r.Unknown)
	}
	assert.Equal(t, len(b.Rows), count["dl"])
	assert.Equal(t, results, count["dt"])
}

// The page of a course links the pages of students beside it, and only where there are any.
func TestCourseLinksPages(t *testing.T) {
	f, ok := FormatNamed("html")
	require.True(t, ok)
	b := sample.SmallCourse()
	var linked, unlinked bytes.Buffer
	require.NoError(t, f.LinkedTo(func(student, exercise string) string { return "pages/" + student + "/" + exercise + ".html" }).WriteCourse(&linked, b))
	require.NoError(t, f.WriteCourse(&unlinked, b))
	readCourse(t, linked.Bytes(), b)
	assert.Contains(t, linked.String(), `<a href="pages/ada/autograd.html">16</a>`)
	assert.NotContains(t, linked.String(), "pages/barbara/", "she has handed in nothing that was graded")
	assert.NotContains(t, unlinked.String(), ".html")
}

// Points that being late took something from say so.
func TestCourseMarksLatePoints(t *testing.T) {
	page := string(writtenCourse(t, "html", sample.SmallCourse()))
	assert.Contains(t, page, `data-value="16">16 <span class="late">late</span></td>`, "ada's counted attempt was late")
	assert.Contains(t, page, `data-value="6">6</td>`, "tony's was not")
}

// Whatever was measured, the plots have no number that is none.
func TestCoursePlotsOfAnything(t *testing.T) {
	for _, x := range []float64{0, -1, 1e-300, 1, 1e300, math.Inf(1), math.NaN()} {
		b := sample.SmallCourse()
		for _, r := range b.Rows {
			for _, c := range r.Cells {
				for _, a := range c.Attempts {
					for i := range a.Result.Checks {
						a.Result.Checks[i].Ratio, a.Result.Checks[i].Limit, a.Result.Checks[i].Verdict = &x, &x, verdict.TooSlow
					}
				}
			}
		}
		out := writtenCourse(t, "html", b)
		readCourse(t, out, b)
		out = withoutStyle(t, out) // nor the script, which has the word
		assert.NotContains(t, string(out), "NaN")
		assert.NotContains(t, string(out), "Inf")
	}
}

func TestCoursePageSize(t *testing.T) {
	assert.Less(t, len(writtenCourse(t, "html", sample.Course(200, 6))), 3<<20)
}
