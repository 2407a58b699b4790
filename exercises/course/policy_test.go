package course

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course/coursetest"
)

const policyText = `title: AI engineering
submissions: students/{student}/{exercise}
timezone: Europe/Berlin
times: lists/times.csv
roster: roster.csv
exercises:
  gears: {due: 2026-12-01 23:59, weight: 2.5, attempts: 3, count: last, canvas: Gears (17)}
  levers:
  pulleys:
    due: 2026-12-01T23:59:30Z
    late: {deduct: 10, per: 24h, most: 50, until: 168h, grace: 15m}
defaults:
  late: {deduct: 25}
extensions:
  - {student: ada, due: 2026-12-24 12:00}
  - {student: ada, exercise: gears, due: 2026-12-10 12:00}
board: true
`

var policyNames = []string{"gears", "levers", "pulleys", "screws"}

func TestParsePolicy(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	p, err := ParsePolicy("grade.yaml", []byte(policyText), policyNames)
	require.NoError(t, err)
	common := &Late{Deduct: 25, Most: 100}
	assert.Equal(t, "students/{student}/{exercise}", p.Submissions.String())
	p.Submissions = Pattern{}
	assert.Equal(t, &Policy{
		Title: "AI engineering", Zone: berlin, Times: "lists/times.csv", Roster: "roster.csv",
		Defaults: Rules{Weight: 1, Count: CountBest, Late: common},
		Exercises: []Rules{
			{Exercise: "gears", Weight: 2.5, Due: time.Date(2026, 12, 1, 23, 59, 0, 0, berlin), Late: common, Attempts: 3, Count: CountLast, Canvas: "Gears (17)"},
			{Exercise: "levers", Weight: 1, Late: common, Count: CountBest},
			{Exercise: "pulleys", Weight: 1, Due: time.Date(2026, 12, 1, 23, 59, 30, 0, time.UTC), Count: CountBest,
				Late: &Late{Deduct: 10, Per: 24 * time.Hour, Most: 50, Until: 168 * time.Hour, Grace: 15 * time.Minute}},
		},
		Extensions: []Extension{
			{Student: "ada", Due: time.Date(2026, 12, 24, 12, 0, 0, 0, berlin)},
			{Student: "ada", Exercise: "gears", Due: time.Date(2026, 12, 10, 12, 0, 0, 0, berlin)},
		},
		Board: true,
	}, p)

	_, listed := p.RulesOf("screws")
	assert.False(t, listed)
	due, extended := p.DueFor("ada", p.Exercises[0])
	assert.True(t, extended)
	assert.Equal(t, 24, due.Day(), "the latest")
	due, extended = p.DueFor("bob", p.Exercises[0])
	assert.False(t, extended)
	assert.Equal(t, p.Exercises[0].Due, due)
	due, extended = p.DueFor("ada", p.Exercises[1])
	assert.False(t, extended, "what is never due needs no extension")
	assert.True(t, due.IsZero())

	r, listed := NewPolicy().RulesOf("gears")
	assert.True(t, listed)
	assert.Equal(t, Rules{Exercise: "gears", Weight: 1, Count: CountBest}, r)
	assert.NoError(t, coursetest.Validate(t, coursetest.Schema(t, "grade"), []byte(policyText)))
}

// The reader refuses all of these with the line, and the schema most of them.
func TestParsePolicyRefuses(t *testing.T) {
	for _, c := range []struct {
		old, new, err string
		schema        bool // refuses it as well
	}{
		{"title:", "titel:", `grade.yaml:1: unknown field "titel"`, true},
		{"students/{student}/{exercise}", "students/{exercise}", "grade.yaml:2: submissions: want {student} once", true},
		{"students/{student}", "../{student}", `grade.yaml:2: submissions: "../{student}/{exercise}" is not a path below`, false},
		{"students/{student}", "x{who}/{student}", `grade.yaml:2: submissions: {who} in "x{who}/{student}/{exercise}" is unknown`, false},
		{"Europe/Berlin", "Europe/Berlyn", `grade.yaml:3: timezone: want a time zone such as Europe/Berlin, not "Europe/Berlyn"`, false},
		{"board: true", "board: yes, please", `board: want true or false`, false},
		{"Europe/Berlin", "Local", "grade.yaml:3: timezone: want", false},
		{"lists/times.csv", "/etc/passwd", `grade.yaml:4: times: want the name of a file beside grade.yaml`, false},
		{"lists/times.csv", "../times.csv", "grade.yaml:4: times: want", false},
		{"gears: {", "cogs: {", `grade.yaml:7: exercises: there is no exercise "cogs"; the course has gears, levers`, false},
		{"2026-12-01 23:59,", "2026-12-01,", `grade.yaml:7: due: want a time such as`, false},
		{"2026-12-01 23:59,", "tomorrow,", `grade.yaml:7: due: want a time such as`, true},
		{"weight: 2.5", "weight: -1", `grade.yaml:7: weight: want a number from 0 on, not "-1"`, true},
		{"attempts: 3", "attempts: 0", `grade.yaml:7: attempts: want a whole number from 1 on`, true},
		{"count: last", "count: worst", `grade.yaml:7: count: want best or last, not "worst"`, true},
		{"levers:", "levers: {canvas: Gears (17)}", `grade.yaml:8: canvas: exercises gears and levers both have the column "Gears (17)": give each its own`, false},
		{"levers:", "levers:\n    weight: 1\n    canvas: gears (17)\n  screws: {canvas: gears (17)}", `grade.yaml:11: canvas: exercises levers and screws both have the column "gears (17)"`, false},
		{"canvas: Gears (17)", "canvas: levers", `grade.yaml:8: canvas: exercises gears and levers both have the column "levers"`, false},
		{"canvas: Gears (17)", "canvas: ID", `grade.yaml:7: canvas: Canvas has a column "ID" of its own: give exercise gears another`, false},
		{"late: {deduct: 25}", "canvas: Points", `grade.yaml:9: canvas: exercises levers and pulleys both have the column "Points"`, false},
		{"levers:", "levers: 7", `grade.yaml:8: levers: want fields, not "7"`, true},
		{"levers:", "gears:", `grade.yaml:8: field "gears" appears twice`, false},
		{"deduct: 10, per", "deduct: 110, per", `grade.yaml:11: deduct: want a percentage from 0 to 100`, true},
		{"deduct: 10, ", "", "grade.yaml:11: late: per and most have no effect without deduct", true},
		{"per: 24h", "per: day", `grade.yaml:11: per: want a duration`, true},
		{"grace: 15m", "grace: 169h", "grade.yaml:11: late: grace is longer than until", false},
		{"{deduct: 25}", "none", `grade.yaml:13: late: want fields`, true},
		{"- {student: ada, due", "- {due", `grade.yaml:15: extensions: field "student" is missing`, true},
		{", due: 2026-12-24 12:00", "", `grade.yaml:15: extensions: field "due" is missing`, true},
		{"exercise: gears, due", "exercise: cogs, due", `grade.yaml:16: extensions: there is no exercise "cogs"`, false},
		{policyText, "", "grade.yaml: the file is empty", false},
		{policyText, "- x", "grade.yaml:1: want fields, not a list", true},
		{"extensions:", "more: [", "grade.yaml:1", false},
	} {
		text := strings.Replace(policyText, c.old, c.new, 1)
		require.NotEqual(t, policyText, text, "%q is not there", c.old)
		_, err := ParsePolicy("grade.yaml", []byte(text), policyNames)
		if c.err == "grade.yaml:1" { // whatever line the parser of YAML gives it
			assert.ErrorContains(t, err, "grade.yaml", c.new)
			continue
		}
		assert.ErrorContains(t, err, c.err, c.new)
		if c.schema {
			assert.ErrorContains(t, coursetest.Validate(t, coursetest.Schema(t, "grade"), []byte(text)), "validation failed", "the schema: %s", c.new)
		}
	}
}

// The segments after the student's may be anything.
func TestStudentOf(t *testing.T) {
	for _, c := range []struct{ pattern, name, student, dir string }{
		{"students/{student}/{exercise}", "students/bo", "bo", "students/bo"},
		{"students/{student}/{exercise}", "students/bo/Notes/x/y", "bo", "students/bo"},
		{"students/{student}/{exercise}", "students", "", ""},
		{"students/{student}/{exercise}", "course/bo", "", ""},
		{"{exercise}/{student}", "gears/bo", "bo", "gears/bo"},
		{"{exercise}/{student}", "gears", "", ""},
		{"*/{exercise}-{student}/x", "w1/gears-jane-doe/y/z", "jane-doe", "w1/gears-jane-doe"},
	} {
		p, err := ParsePattern(c.pattern)
		require.NoError(t, err)
		student, dir, ok := p.StudentOf(c.name)
		assert.Equal(t, []any{c.student, c.dir, c.student != ""}, []any{student, dir, ok}, "%s in %s", c.name, c.pattern)
	}
	_, _, ok := Pattern{}.StudentOf("students/bo")
	assert.False(t, ok)
}

func TestPattern(t *testing.T) {
	for _, c := range []struct{ pattern, file, dir, student, exercise string }{
		{"students/{student}/{exercise}", "students/ada/gears/a.go", "students/ada/gears", "ada", "gears"},
		{"students/{student}/{exercise}", "students/ada/gears/deep/er/a.go", "students/ada/gears", "ada", "gears"},
		{"students/{student}/{exercise}", "students/mallory/students/ada/gears/a.go", "students/mallory/students", "mallory", "students"},
		{"students/{student}/{exercise}", "students/ada/Gears/a.go", "", "", ""},
		{"students/{student}/{exercise}", "other/ada/gears/a.go", "", "", ""},
		{"students/{student}/{exercise}", "students/ada", "", "", ""},
		{"students/{student}/{exercise}", "x/../students/ada/gears", "", "", ""},
		{"{exercise}-{student}", "gears-jane-doe/a.go", "gears-jane-doe", "jane-doe", "gears"},
		{"group-*/{student}", "group-7/ada/a.go", "group-7/ada", "ada", ""},
		{"group-*/{student}", "7/ada/a.go", "", "", ""},
		{"a.b/{student}", "axb/ada/a.go", "", "", ""},
	} {
		p, err := ParsePattern(c.pattern)
		require.NoError(t, err)
		dir, student, exercise, ok := p.Submission(c.file)
		assert.Equal(t, c.dir != "", ok, c.file)
		if ok {
			assert.Equal(t, []string{c.dir, c.student, c.exercise}, []string{dir, student, exercise}, c.file)
		}
	}
	_, _, _, ok := Pattern{}.Submission("students/ada/gears/a.go")
	assert.False(t, ok)
	const path, count = "is not a path below the repository", "want {student} once"
	for bad, want := range map[string]string{
		"": path, "/x/{student}": path, "x//{student}": path, "{student}/..": path, `x\{student}`: path,
		"x": count, "{student}/{student}": count, "{student}/{exercise}-{exercise}": count, "{}/{student}": "{} in",
	} {
		_, err := ParsePattern(bad)
		assert.ErrorContains(t, err, want, bad)
	}
}
