package report

import (
	"maps"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/gradebook"
	"grade/grader/report/sample"
	"grade/grader/verdict"
)

// courseElements are all that a course's page consists of.
var courseElements = func() map[string]string {
	all := maps.Clone(pageElements)
	maps.Copy(all, map[string]string{
		"main": "class", "h3": "id", "div": "class role aria-labelledby tabindex", "table": "class aria-labelledby", "tfoot": "",
		"tbody": "", "nav": "aria-label", "td": "class", "details": "class", "span": "class", "dl": "id",
	})
	return all
}()

// readCourse finds a row and a part for every student, and for every exercise what there
// is to draw.
func readCourse(t *testing.T, out []byte, b *gradebook.Book) {
	count := pageOf(t, out, courseElements)
	assert.Equal(t, 1, count["h1"])
	assert.Equal(t, count["svg"], count["figure"])
	drawn, results := 0, 0
	for i := range b.Columns {
		s := statsOf(b, i)
		for _, there := range []bool{len(s.points) > 0, len(s.worst()) > 0, len(s.measured()) > 0} {
			if there && len(b.Rows) > 0 {
				drawn++
			}
		}
	}
	for _, r := range b.Rows {
		for _, c := range r.Cells {
			if !unsaid(b, c) {
				results++
			}
		}
		results += len(r.Unknown)
	}
	assert.Equal(t, drawn, count["svg"])
	assert.Equal(t, len(b.Rows), count["dl"])
	assert.Equal(t, results, count["dt"])
}

func TestCourseStats(t *testing.T) {
	b := aCourse()
	autograd, cosine := statsOf(b, 0), statsOf(b, 1)
	assert.Equal(t, []float64{0, 6, 16, 20}, autograd.points, "what counts, sorted; barbara has handed in nothing")
	assert.Equal(t, []int{4, 0, 0}, []int{autograd.graded, autograd.refused, autograd.missing})
	assert.Equal(t, []int{1, 2, 1}, []int{cosine.graded, cosine.refused, cosine.missing}, "margaret's older grade stands")
	var worst []string
	for _, c := range autograd.worst() {
		worst = append(worst, c.name+" "+c.failedWords())
	}
	assert.Equal(t, []string{"TestSharedNode 2 of 4", "BenchmarkWide/speed 2 of 4"}, worst)
	assert.Empty(t, cosine.worst())
	measured := autograd.measured()
	require.Len(t, measured, 2)
	assert.Equal(t, "4 measured, median 1.31×, from 1.31× to 1.31×, limit 2×, 0 not passed", measured[0].stripWords())
	assert.Equal(t, "4 measured, median 16.23×, from 1.03× to 31.42×, limit 4×, 2 not passed", measured[1].stripWords())
	assert.Equal(t, "4 grades: median 11, from 0 to 20 points", autograd.scoreWords())
	assert.Equal(t, "3 grades: median 0, from 0 to 20 points; 2 refused or not compiling; 1 without a verdict", cosine.scoreWords())
}

func TestHistogram(t *testing.T) {
	assert.Equal(t, [histogramBars]int{2, 1, 0, 0, 0, 0, 0, 0, 0, 2, 3}, histogram([]float64{-1, 9.99, 10, 90, 99.99, 100, 100, 120}))
	assert.Equal(t, 2.5, median([]float64{1, 2, 3, 4}))
	assert.Equal(t, 2.0, median([]float64{1, 2, 3}))
	assert.True(t, math.IsNaN(median(nil)))
}

// Dots that lie beside each other do not hide each other, as long as there is room.
func TestSwarm(t *testing.T) {
	var s swarm
	seen := map[float64]bool{}
	for range 2*dotLevels + 1 {
		y := float64(s.place(0))
		assert.False(t, seen[y])
		seen[y] = true
		assert.LessOrEqual(t, math.Abs(y), dotLevels*dotStep+1e-9)
	}
	assert.Zero(t, s.place(1), "no room: on another")
	assert.Zero(t, s.place(100), "room again, in the middle")
}

// Whatever was measured, the plots have no number that is none.
func TestCoursePlotsOfAnything(t *testing.T) {
	for _, x := range []float64{0, -1, 1e-300, 1, 1e300, math.Inf(1), math.NaN()} {
		b := aCourse()
		for _, r := range b.Rows {
			for _, c := range r.Cells {
				for _, a := range c.Attempts {
					for i := range a.Result.Checks {
						a.Result.Checks[i].Ratio, a.Result.Checks[i].Limit, a.Result.Checks[i].Verdict = &x, &x, verdict.TooSlow
					}
				}
			}
		}
		out := writtenBook(t, "html", b)
		readCourse(t, out, b)
		assert.NotContains(t, string(out), "NaN")
		assert.NotContains(t, string(out), "Inf")
	}
}

func TestCoursePageSize(t *testing.T) {
	assert.Less(t, len(writtenBook(t, "html", sample.Course(200, 6))), 3<<20)
}
