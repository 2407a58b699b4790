package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/yuin/goldmark/ast"

	"grade/grader/report/sample"
)

// What each rule did is told wherever a student reads.
func TestCountedResult(t *testing.T) {
	cell, _ := sample.SmallCourse().Find("ada", "autograd")
	id := identity()
	id.Counted = &cell
	for _, format := range []string{"html", "markdown", "github-summary", "text", "github-annotations"} {
		out := string(writtenFor(t, format, sample.AllPoints(), id))
		assert.Contains(t, out, "Counted result: 16 of 20 points", format)
		for _, rule := range cell.Rules {
			assert.Contains(t, out, strings.ReplaceAll(rule, " %", map[bool]string{true: " %25", false: " %"}[format == "github-annotations"]), format)
		}
		assert.NotContains(t, string(written(t, format, sample.AllPoints())), "Counted result", format)
	}
	golden(t, "counted.txt", writtenFor(t, "text", sample.AllPoints(), id))
	golden(t, "counted.html", writtenFor(t, "html", sample.AllPoints(), id))
	golden(t, "counted.md", writtenFor(t, "markdown", sample.AllPoints(), id))

	counts := *cell.Counts
	result := *counts.Result
	result.Score, counts.Result, cell.Counts = 13, &result, &counts
	assert.Contains(t, string(writtenFor(t, "html", sample.AllPoints(), id)), "13 before the course", "of the attempt that counts")
}

func TestMarkdownOfManyIsCut(t *testing.T) {
	inFull(t)
	b := sample.Course(400, 6)
	out := writtenCourse(t, "markdown", b)
	assert.Less(t, len(out), 65_536)
	assert.Contains(t, string(out), "more submissions that did not fit here")
	assert.Greater(t, markdownOf(t, out)[ast.KindHeading], 20, "there is room for some")

	b.Rows = slices.Repeat(b.Rows, 5)
	out = writtenCourse(t, "markdown", b)
	assert.Less(t, len(out), 65_536)
	assert.Contains(t, string(out), "more students that did not fit here")
	out = writtenCourse(t, "github-summary", b)
	assert.LessOrEqual(t, len(out), 1<<20-4<<10, "with room for what a push says before it")
	assert.Contains(t, string(out), "more submissions that did not fit here")
}
