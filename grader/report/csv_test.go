package report

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/gradebook"
	"grade/grader/report/sample"
)

func TestCellText(t *testing.T) {
	for in, want := range map[string]string{
		"ada":             "ada",
		"Lovelace, Ada":   "Lovelace, Ada",
		"a-b=c":           "a-b=c",
		"=1+1":            "'=1+1",
		"  =1":            "  '=1",
		"+49":             "'+49",
		"@SUM(1)":         "'@SUM(1)",
		"x;=1,-2| \"@3":   "x;'=1,'-2| \"'@3",
		"\t=1":            `\t=1`,
		"\uff1d1":         "'\uff1d1",
		"::error::forged": "'::error::forged",
	} {
		assert.Equal(t, want, cellText(in))
	}
}

// An empty cell takes a score away in Canvas: who lacks a verdict of ours has no row.
func TestCanvasKeepsScores(t *testing.T) {
	b := sample.SmallCourse()
	rows := readRows(t, writtenCourse(t, "canvas", b))
	var students []string
	for _, row := range rows[2:] {
		students = append(students, row[0])
	}
	assert.Equal(t, []string{"Lovelace, Ada", "Dijkstra, Edsger", "Hopper, Grace"}, students,
		"tony lacks a verdict; Edsger has handed in nothing; barbara and margaret are not on the roster, and Canvas would look for them by their names")
	b.Roster = nil
	assert.NotContains(t, string(writtenCourse(t, "canvas", b)), "barbara", "who lacks a verdict")
	b.Rows[1].Cells[1].Missing = nil // barbara's
	assert.Contains(t, string(writtenCourse(t, "canvas", b)), "barbara,,,barbara,,,\n")
}

// Staff of the roster are in no gradebook: an empty cell would take their scores away.
func TestCanvasLeavesOutStaff(t *testing.T) {
	b := sample.SmallCourse()
	b.Roster[2].Role = "Staff"
	assert.NotContains(t, string(writtenCourse(t, "canvas", b)), "Dijkstra")
	b.Roster[2].Role = "Student"
	assert.Contains(t, string(writtenCourse(t, "canvas", b)), "Dijkstra")
}

func TestCanvasRefuses(t *testing.T) {
	f, _ := FormatNamed("canvas")
	b := sample.SmallCourse()
	b.Columns[1].Canvas = "Autograd (4711)"
	assert.EqualError(t, f.WriteCourse(&bytes.Buffer{}, b), `write report canvas: two columns would be called "Autograd (4711)" in Canvas: give exercise cosine another canvas: in grade.yaml`)
	b = &gradebook.Book{Columns: []gradebook.Column{{Rules: course.Rules{Exercise: "ID"}}}}
	assert.ErrorContains(t, f.WriteCourse(&bytes.Buffer{}, b), `two columns would be called "ID"`)
	b = sample.SmallCourse()
	b.Roster[0].SISUserID = "tony"
	b.Roster[1].SISLoginID, b.Roster[1].ID = "hoare", "ada2"
	b.Rows[4].Student = "ADA"
	assert.Contains(t, f.Warnings(b), "canvas: students ada and ADA are the same person on the roster, and neither has a row")
	assert.NotContains(t, string(writtenCourse(t, "canvas", b)), "Lovelace", "which takes points from no other student")
}

// What Canvas has an assignment worth is what it is worth there.
func TestCanvasMaxima(t *testing.T) {
	f, _ := FormatNamed("canvas")
	b := sample.SmallCourse()
	b.Maxima = map[string]float64{"Autograd (4711)": 50}
	rows := readRows(t, writtenCourse(t, "canvas", b))
	whole := readRows(t, writtenCourse(t, "canvas", sample.SmallCourse()))
	assert.Equal(t, []string{"50", "100"}, rows[1][5:])
	for i := range rows[2:] {
		if points := whole[i+2][5]; points != "" {
			was, err := strconv.ParseFloat(points, 64)
			require.NoError(t, err)
			is, err := strconv.ParseFloat(rows[i+2][5], 64)
			require.NoError(t, err)
			assert.InDelta(t, was/2, is, 0.005)
		}
		assert.Equal(t, whole[i+2][6], rows[i+2][6])
	}
	assert.Contains(t, strings.Join(f.Warnings(b), "\n"), `the roster has no assignment "cosine"`)
	assert.Contains(t, strings.Join(f.Warnings(b), "\n"), "canvas: margaret is not on the roster")
	assert.NotContains(t, strings.Join(f.Warnings(b), "\n"), "lacks the row")
	b.Maxima = nil
	assert.Contains(t, strings.Join(f.Warnings(b), "\n"), "canvas: the roster lacks the row with what each assignment is worth")
	b.Roster = nil
	assert.NotContains(t, strings.Join(f.Warnings(b), "\n"), "lacks the row")
	assert.Contains(t, strings.Join(f.Warnings(b), "\n"), "without a roster")
	b.Columns[1].Extra = true
	assert.Len(t, readRows(t, writtenCourse(t, "canvas", b))[0], 6, "what is not in the rules is not in Canvas")
}

// The roster has the assignment's name as it is, also where a cell could not hold it.
func TestCanvasNames(t *testing.T) {
	f, _ := FormatNamed("canvas")
	b := sample.SmallCourse()
	for _, name := range []string{"Lab 3, -O2 (4711)", "Autograd:\u00a0graphs (4711)", "soft\u00adhyphen (4711)"} {
		b.Columns[0].Canvas, b.Maxima = name, map[string]float64{name: 50}
		assert.Equal(t, []string{"50", "100"}, readRows(t, writtenCourse(t, "canvas", b))[1][5:], name)
		assert.NotContains(t, strings.Join(f.Warnings(b), "\n"), "4711", name)
	}
}

// A student with the name of the row of maxima does not set what an exercise is worth.
func TestCanvasRowOfMaxima(t *testing.T) {
	b := sample.SmallCourse()
	b.Rows[3].Student, b.Roster = "  Points Possible", nil
	out := writtenCourse(t, "canvas", b)
	readCanvas(t, out, b)
	assert.Contains(t, string(out), "\"  points possible\",,,\"  Points Possible\",,0,0\n")
}
