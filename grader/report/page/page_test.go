package page

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/gradebook"
	"grade/grader/report/sample"
	"grade/grader/verdict"
)

func TestCourseStats(t *testing.T) {
	b := sample.SmallCourse()
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

func TestUnfailed(t *testing.T) {
	for n, want := range map[int]string{
		0: "No submission was built and tested.",
		1: "No check failed in the one submission that was built and tested.",
		7: "No check failed in any of the 7 submissions that were built and tested.",
	} {
		assert.Equal(t, want, courseExercise{Graded: n}.Unfailed())
	}
}

func TestHistogram(t *testing.T) {
	assert.Equal(t, [histogramBars]int{2, 1, 0, 0, 0, 0, 0, 0, 0, 2, 3}, histogram([]float64{-1, 9.99, 10, 90, 99.99, 100, 100, 120}))
}

func TestMedianWords(t *testing.T) {
	assert.Equal(t, "2.5 %", medianWords([]float64{1, 2, 3, 4}, " %"))
	assert.Equal(t, "–", medianWords(nil, " %"), "of nothing there is none")
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

// Whatever was measured, a plot has its scale and no number that is none.
func TestPlotOfAnything(t *testing.T) {
	for _, x := range []float64{0, -1, 1e-9, 1, 1e9, math.Inf(1), math.Inf(-1), math.NaN()} {
		c := sample.Checks()[3]
		c.Ratio, c.Interval, c.Limit = &x, &[2]float64{x, x}, &x
		svg, err := ratioPlot("p", "</title><script>", []verdict.CheckResult{c})
		require.NoError(t, err)
		assert.NotContains(t, string(svg), "NaN,")
		assert.NotContains(t, string(svg), "Inf,")
		assert.NotContains(t, string(svg), "<script>")
		assert.NotContains(t, string(svg), "style=")
		assert.NotContains(t, string(svg), "#0", "every colour has a name")
	}
	svg, err := ratioPlot("p", "nothing measured", sample.Checks()[:2])
	require.NoError(t, err)
	assert.Empty(t, svg)
}

func TestPlotTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{{0.45, 2.2, "0.5 1 2"}, {0.45, 17, "1 2 4 8"}, {0.4, 2000, "1 10 100 1e+03"}, {0.0005, 2, "0.001 0.01 0.1 1"}} {
		var got []string
		for _, tick := range ratioTicks(c.lo, c.hi) {
			got = append(got, fmt.Sprintf("%.3g", tick.Value))
		}
		assert.Equal(t, c.want, strings.Join(got, " "))
	}
}

func TestBreakable(t *testing.T) {
	for in, want := range map[string]string{
		"TestArgumentsUnchanged": "Test|Arguments|Unchanged", "BenchmarkWide/speed": "Benchmark|Wide/|speed", "TestNaN": "Test|Na|N", "abc": "abc", "": "", "TestÄÖ": "Test|ÄÖ", "/": "/",
	} {
		assert.Equal(t, want, strings.Join(breakable(in), "|"))
	}
}

// A course's page has a plot wherever there is something to draw, and nowhere else.
func TestCourseDrawsWhatThereIs(t *testing.T) {
	for name, b := range map[string]*gradebook.Book{
		"small": sample.SmallCourse(), "one run": sample.RunOfCourse(), "larger": sample.Course(30, 3),
		"no student": gradebook.New(course.NewPolicy(), nil, nil, nil),
	} {
		drawn := 0
		for i := range b.Columns {
			s := statsOf(b, i)
			for _, there := range []bool{len(s.points) > 0, len(s.worst()) > 0, len(s.measured()) > 0} {
				if there && len(b.Rows) > 0 {
					drawn++
				}
			}
		}
		var out strings.Builder
		require.NoError(t, Course(&out, b, nil))
		assert.Equal(t, drawn, strings.Count(out.String(), "<svg"), name)
	}
}
