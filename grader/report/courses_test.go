package report

import (
	"bytes"
	"encoding/csv"
	"io"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"

	"grade/exercises/course"
	"grade/grader/gradebook"
	"grade/grader/report/sample"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// courseExtensions are what the golden files of a format of many are called.
var courseExtensions = map[string]string{
	"csv": ".csv", "canvas": ".canvas.csv", "junit": ".junit.xml", "github-annotations": ".annotations.txt", "gitlab-codequality": ".codequality.json",
	"markdown": ".md", "json": ".gradebook.json", "html": ".html",
}

// courses are what the golden files of many gradings show.
func courses() map[string]*gradebook.Book {
	return map[string]*gradebook.Book{
		"course": sample.SmallCourse(), "course_run": sample.RunOfCourse(), "course_empty": gradebook.New(course.NewPolicy(), nil, nil, nil), "course_hostile": attackedCourse(evil, verdict.Graded),
	}
}

// attackedCourse returns a course with s in every field that comes from outside.
func attackedCourse(s string, v verdict.Verdict) *gradebook.Book {
	p := sample.Policy()
	p.Title = s
	p.Exercises[0].Exercise, p.Exercises[1].Canvas = s, s
	r := attacked(s, v)
	b := gradebook.New(p, nil, []gradebook.Attempt{
		{Student: s, Exercise: s, Number: 1, Submitted: time.Date(2026, 3, 15, 9, 0, 0, 0, time.UTC), Source: s, Folder: s, Result: r},
		{Student: s, Exercise: "cosine", Number: 1, Folder: s, Result: r},
		{Student: "ada", Exercise: "cosine", Number: 1, Source: s, Folder: "submissions/" + s, Result: r},
		{Student: s + "2", Exercise: s, Number: 1, Source: s, Folder: s, Result: r},
	}, []gradebook.Missing{
		{Student: "ada", Exercise: s, Folder: s, Why: sample.Secret, Told: s}, {Student: s, Exercise: "cosine", Folder: s, Why: sample.Secret, Told: s}, {Student: s, Folder: s, Why: sample.Secret, Told: s},
	})
	b.Rows[0].Cells[0].Rules = append(b.Rows[0].Cells[0].Rules, s)
	b.Roster = gradebook.Roster{{Name: s, ID: s, SISUserID: s, SISLoginID: "login", Section: s}, {Name: s, ID: "7", SISUserID: s + "3", SISLoginID: "nobody", Section: s}}
	return b
}

// writtenCourse is b in the format called name.
func writtenCourse(t *testing.T, name string, b *gradebook.Book) []byte {
	t.Helper()
	f, ok := FormatNamed(name)
	require.True(t, ok, name)
	var out bytes.Buffer
	require.NoError(t, f.WriteCourse(&out, b))
	return out.Bytes()
}

// courseReaders parse a report of many as its reader does, and say what must hold of it.
var courseReaders map[string]func(*testing.T, []byte, *gradebook.Book)

func init() {
	courseReaders = map[string]func(*testing.T, []byte, *gradebook.Book){
		"csv": readCSV, "canvas": readCanvas, "junit": readJUnitCourse, "github-annotations": readCourseAnnotations, "gitlab-codequality": readCourseCodeQuality,
		"markdown": readMarkdownCourse, "github-summary": readMarkdownCourse, "json": readJSONCourse, "html": readCourse,
	}
}

func TestGoldenCourses(t *testing.T) {
	for format, extension := range courseExtensions {
		for name, b := range courses() {
			t.Run(path.Join(format, name), func(t *testing.T) {
				if format == "canvas" && b.Partial {
					f, _ := FormatNamed(format)
					require.ErrorContains(t, f.WriteCourse(io.Discard, b), "gradebook of all kept results")
					return
				}
				out := writtenCourse(t, format, b)
				golden(t, name+extension, out)
				courseReaders[format](t, out, b)
			})
		}
	}
}

func TestNoAttackGetsThroughACourse(t *testing.T) {
	inFull(t)
	for _, f := range Formats() {
		if !f.OfMany() {
			continue
		}
		read := courseReaders[f.Name]
		require.NotNil(t, read, "no reader for %s", f.Name)
		for attack, s := range attacks {
			for _, v := range verdict.SubmissionVerdicts {
				if len(s) >= 1<<16 && v != verdict.Graded {
					continue // takes long, and shows nothing new
				}
				t.Run(f.Name+"/"+attack+"/"+string(v), func(t *testing.T) {
					b := attackedCourse(s, v)
					out := writtenCourse(t, f.Name, b)
					readAsLog(t, string(out))
					assert.NotContains(t, string(out), sample.Secret)
					if len(s) < 1<<16 || !slices.Contains(wholeNames, f.Name) {
						assert.Less(t, len(out), 1<<20)
					}
					read(t, out, b)
				})
			}
		}
	}
}

func FuzzCourses(f *testing.F) {
	for _, s := range attacks {
		f.Add(s[:min(len(s), 1000)])
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := attackedCourse(s, verdict.Graded)
		for format, read := range courseReaders {
			known, _ := FormatNamed(format)
			var out bytes.Buffer
			if err := known.WriteCourse(&out, b); err != nil && format == "canvas" {
				continue // two columns or two students of one name
			} else if err != nil {
				t.Fatal(err)
			}
			readAsLog(t, out.String())
			read(t, out.Bytes(), b)
		}
	})
}

// Every format shows what each rule did.
func TestRulesAreTold(t *testing.T) {
	b := sample.SmallCourse()
	for _, format := range []string{"html", "markdown", "github-summary", "json", "junit"} {
		out := string(writtenCourse(t, format, b))
		for _, row := range b.Rows {
			for _, cell := range row.Cells {
				for _, rule := range cell.Rules {
					assert.Contains(t, out, rule, format)
				}
			}
		}
	}
}

// wholeNames are the formats in which programs look names up: however long one is, it is
// there to its end.
var wholeNames = []string{"json", "csv", "canvas", "junit", "github-annotations"}

// What is told of many is told in time, and of no size that a reader would refuse.
func TestLargeCourse(t *testing.T) {
	inFull(t)
	b := sample.Course(200, 6)
	require.Len(t, b.Rows, 200)
	for _, f := range Formats() {
		if f.OfMany() {
			started := time.Now()
			out := writtenCourse(t, f.Name, b)
			took := time.Since(started)
			t.Logf("%s: %d bytes in %v", f.Name, len(out), took)
			assert.Less(t, took, time.Minute, f.Name)
			assert.Less(t, len(out), 8<<20, f.Name)
			courseReaders[f.Name](t, out, b)
		}
	}
}

func TestFormatsOfOneAndOfMany(t *testing.T) {
	for _, f := range Formats() {
		assert.True(t, f.OfOne() || f.OfMany(), f.Name)
		var b bytes.Buffer
		if !f.OfMany() {
			assert.ErrorContains(t, f.WriteCourse(&b, sample.SmallCourse()), "not many", f.Name)
		}
		if !f.OfOne() {
			assert.ErrorContains(t, f.Write(&b, sample.Mixed(), identity()), "not one", f.Name)
		}
		assert.Zero(t, b.Len())
	}
}

// readRows reads a file strictly: as many cells in every row, none of them a formula.
func readRows(t *testing.T, out []byte) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, len(rows), bytes.Count(out, []byte("\n")), "a line a row, without CR")
	for _, row := range rows {
		for _, cell := range row {
			for _, part := range strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(";,|\t", r) }) {
				part = strings.TrimLeft(part, ` "`)
				require.False(t, part != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(part)[0]), "a formula: %.200q", cell)
			}
		}
	}
	return rows
}

func readCSV(t *testing.T, out []byte, b *gradebook.Book) {
	rows := readRows(t, out)
	require.Len(t, rows, len(b.Rows)+1)
	assert.Len(t, rows[0], len(b.Columns)+2)
	for i, r := range b.Rows {
		for j, c := range r.Cells {
			assert.Equal(t, c.Points == nil, rows[i+1][j+1] == "")
		}
		assert.Equal(t, r.Total == nil, rows[i+1][len(b.Columns)+1] == "")
	}
}

// readCanvas reads as Canvas' own importer does.
func readCanvas(t *testing.T, out []byte, b *gradebook.Book) {
	rows := readRows(t, out)
	require.GreaterOrEqual(t, len(rows), 2)
	assert.Equal(t, "Student ID SIS User ID SIS Login ID Section", strings.Join(rows[0][:5], " "))
	for i, row := range rows[1:] {
		assert.Equal(t, i == 0, strings.Contains(row[0], "Points Possible"), "what each is worth is said once: %.200q", row[0])
	}
	for _, c := range rows[1][5:] {
		assert.Equal(t, "100", c)
	}
}

// readJUnitCourse finds a suite for every submission, each under a name of its own.
func readJUnitCourse(t *testing.T, out []byte, b *gradebook.Book) {
	suites, cases := junitOf(t, out)
	list := wording.Submissions(b)
	require.Len(t, suites, len(list))
	for i, s := range list {
		var want []string
		if r := s.Result(); r != nil {
			want = checkNames(r)
		}
		if s.Cell.Missing != nil {
			want = append(want, "verdict")
		}
		assert.Equal(t, want, cases[suites[i]], suites[i])
	}
}

// readCourseAnnotations finds a warning for every submission that lacks something, up to the
// cap, problems where they are, and one count.
func readCourseAnnotations(t *testing.T, out []byte, b *gradebook.Book) {
	problems, warnings := 0, 0
	for _, s := range wording.Submissions(b) {
		if r := s.Result(); r != nil {
			problems += len(r.Problems)
		}
		if len(s.Failed()) > 0 || s.Cell.Missing != nil {
			warnings++
		}
	}
	assert.Len(t, commandsOf(t, out), min(problems, maxAnnotations)+min(warnings, maxAnnotations)+1)
}

func readCourseCodeQuality(t *testing.T, out []byte, b *gradebook.Book) {
	want := 0
	for _, s := range wording.Submissions(b) {
		if r := s.Result(); r != nil {
			want += wrong(r)
		}
	}
	require.Len(t, qualityOf(t, out), want)
}

// readMarkdownCourse finds the table, a heading for every submission of which there is
// something to say, and a list item for each thing said, as far as there is room.
func readMarkdownCourse(t *testing.T, out []byte, b *gradebook.Book) {
	count := markdownOf(t, out)
	headings, items := 1, 0
	for _, s := range wording.Submissions(b) {
		if lines := markdownSubmission(s); len(lines) > 0 {
			headings, items = headings+1, items+len(lines)
		}
	}
	if bytes.Contains(out, []byte("that did not fit here")) {
		assert.Less(t, count[ast.KindHeading], headings)
		return
	}
	assert.Equal(t, headings, count[ast.KindHeading])
	assert.Equal(t, items, count[ast.KindListItem])
	assert.Equal(t, len(b.Rows), count[extensionast.KindTableRow])
}
