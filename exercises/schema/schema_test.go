package schema_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/coursetest"
	"grade/exercises/course/fixture"
	"grade/exercises/schema"
	"grade/grader/verdict"
)

// The schemas accept every file of the shipped exercises.
func TestSchemasAcceptWhatIsShipped(t *testing.T) {
	for name, pattern := range map[string]string{
		"exercise":   "../*/exercise.yaml",
		"expect":     "../*/submissions/*/*/expect.yaml",
		"equivalent": "../*/equivalent.yaml",
		"chapters":   "../chapters.yaml",
	} {
		s := coursetest.Schema(t, name)
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.NoError(t, coursetest.Validate(t, s, data), file)
		}
	}
	for name, data := range coursetest.WithSubmissions() {
		if file := filepath.Base(name); strings.HasSuffix(file, ".yaml") {
			assert.NoError(t, coursetest.Validate(t, coursetest.Schema(t, strings.TrimSuffix(file, ".yaml")), []byte(data)), name)
		}
	}
}

// An editor finds the schema of what ships by the file's first line.
func TestShippedFilesNameTheirSchema(t *testing.T) {
	files, err := filepath.Glob("../*/e*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		first, _, _ := strings.Cut(string(data), "\n")
		way, ok := strings.CutPrefix(first, "# yaml-language-server: $schema=")
		assert.True(t, ok, file)
		assert.Equal(t, "../schema/"+strings.TrimSuffix(filepath.Base(file), ".yaml")+".json", filepath.ToSlash(filepath.Join(filepath.Dir(file), way)))
	}
}

// A schema has exactly the fields that the loader reads, in every mapping.
func TestSchemasHaveTheFieldsThatAreRead(t *testing.T) {
	read := course.Fields()
	maps.Copy(read, map[string][]string{"expect": fixture.Fields()})
	for mapping, fields := range read {
		name, def, _ := strings.Cut(mapping, "/")
		s := schemaNode(t, name, def)
		slices.Sort(fields)
		assert.Equal(t, fields, slices.Sorted(maps.Keys(s["properties"].(map[string]any))), mapping)
		assert.Equal(t, false, s["additionalProperties"], mapping)
	}
}

// schemaNode is a schema or one of its definitions.
func schemaNode(t *testing.T, name, def string) (s map[string]any) {
	t.Helper()
	data, err := schema.Files.ReadFile(name + ".json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &s))
	if def != "" {
		s = s["$defs"].(map[string]any)[def].(map[string]any)
	}
	return s
}

// The words, bounds and defaults in a schema are those of the loader.
func TestSchemasHaveTheValuesThatAreRead(t *testing.T) {
	expect := schemaNode(t, "expect", "")
	assert.Equal(t, wordsOf(verdict.SubmissionVerdicts), coursetest.Texts(coursetest.At(expect, "properties", "verdict", "enum")))
	assert.Equal(t, wordsOf(verdict.CheckVerdicts), coursetest.Texts(coursetest.At(expect, "properties", "checks", "additionalProperties", "enum")))
	assert.EqualValues(t, course.MaxScore, coursetest.At(expect, "$defs", "score", "maximum"))
}

func wordsOf(list []verdict.Verdict) (texts []string) {
	for _, v := range list {
		texts = append(texts, string(v))
	}
	return texts
}

// Both the schema and the loader refuse these.
func TestSchemasRefuse(t *testing.T) {
	const (
		config     = "exercises/gears/exercise.yaml"
		accepted   = coursetest.SubmissionsRoot + "accepted/loop/expect.yaml"
		wrong      = coursetest.SubmissionsRoot + "wrong_answer/off-by-one/expect.yaml"
		invalid    = coursetest.SubmissionsRoot + "invalid/imports-os/expect.yaml"
		equivalent = "exercises/gears/equivalent.yaml"
		mutants    = "mutants: [{id: a, why: b}]\n"
	)
	for _, c := range []struct{ file, old, new string }{
		{config, "feedback:", "feedbak:"},
		{config, "points: 60", "points: 60, pionts: 1"},
		{config, "memory:", "ram:"},
		{config, "title: Gear trains\n", ""},
		{config, "Gear trains", "42"},
		{config, "Gear trains", `"a\nb"`},
		{config, "Gear trains", `" "`},
		{config, "package: gears", "package: func"},
		{config, "package: gears", "package: main"},
		{config, "package: gears", "package: ge-ars"},
		{config, "encoding/json", "github.com/x/y"},
		{config, "[os, encoding/json]", "[os, os]"},
		{config, "[wheel.go]", "wheel.go"},
		{config, "[wheel.go]", "[[]]"},
		{config, "feedback: class", "feedback: all"},
		{config, "feedback: values", "feedback: all"},
		{config, "1GiB", "1GB"},
		{config, "1GiB", "1024"},
		{config, "1GiB", "0MiB"},
		{config, "1m", "60"},
		{config, "1m", "0s"},
		{config, "1m", "1 m"},
		{config, "1m", "-1m"},
		{config, "{memory: 1GiB, wall: 1m}", "high"},
		{config, "points: 60", "points: many"},
		{config, "points: 60", "points: 6.5"},
		{config, "points: 60", "points: 0"},
		{config, "points: 27, ", ""},
		{config, "points: 3, self", "points: 4, self"},
		{config, "self_reported: true", "self_reported: 1"},
		{config, "{test: TestRatio, ", "{"},
		{config, "{test: TestRatio, ", "{test: TestRatio, benchmark: BenchmarkTrain, "},
		{config, "{test: TestRatio, ", "{test: TestRatio, hint: Share nothing., "},
		{config, "{test: TestRatio, ", "{test: TestRatio, kind: race, "},
		{config, "{test: TestRatio, points: 60}", "{race: [TestRatio], points: 4}"},
		{config, "{test: TestRatio, points: 60}", "{race: [TestRatio], hint: Share nothing., points: 5}"},
		{config, "{test: TestRatio, points: 60}", "{race: [], hint: Share nothing., points: 4}"},
		{config, "{test: TestRatio, points: 60}", "{race: [BenchmarkTrain], hint: Share nothing., points: 4}"},
		{config, "{test: TestRatio, points: 60}", "{race: [TestRatio], kind: speed, hint: Share nothing., points: 4}"},
		{config, "{test: TestRatio, points: 60}", "{race: [TestRatio], limit: 2, hint: Share nothing., points: 4}"},
		{config, "{test: TestRatio, points: 60}", "{race: [TestRatio], test: TestRatio, hint: Share nothing., points: 4}"},
		{config, "test: TestRatio", "test: Testify"},
		{config, "points: 60", "points: 60, kind: speed"},
		{config, "points: 60", "points: 60, limit: 2"},
		{config, "kind: speed, ", ""},
		{config, "kind: speed", "kind: correctness"},
		{config, ", limit: 4", ""},
		{config, "limit: 4", "limit: 1"},
		{config, "limit: 4", "limit: high"},
		{config, "limit: 4", "limit: 4, self_reported: true"},
		{config, "points: 60", "points: 60, anchor: Two Words"},
		{config, "points: 60", "points: 60, anchor: '#gears'"},
		{config, "points: 60", "points: 60, anchor: 7"},
		{config, "points: 60", "points: 60, needs: TestAllocs"},
		{config, "points: 60", "points: 60, needs: []"},
		{config, "points: 60", "points: 60, needs: {}"},
		{config, "points: 60", "points: 60, needs: [TestAllocs, TestAllocs]"},
		{config, "points: 60", "points: 60, needs: {TestAllocs: losses}"},
		{config, "points: 60", "points: 60, needs: {TestAllocs: ['*']}"},
		{config, "points: 60", "points: 60, needs: {TestAllocs: ['a*b']}"},
		{config, "limit: 4", "limit: 4, needs: {TestRatio: [losses]}"},
		{config, "{test: TestRatio, points: 60}", "TestRatio"},
		{accepted, "score:", "scroe:"},
		{accepted, "why: a loop\n", ""},
		{accepted, "verdict: graded\n", ""},
		{accepted, "graded", "passed"},
		{accepted, "100", "101"},
		{accepted, "100", "-1"},
		{accepted, "100", "full"},
		{accepted, "score: 100", "score: 100\nmax_score: 100"},
		{accepted, "score: 100", "score: 100\nrule: import"},
		{wrong, "TestRatio: wrong_answer", "TestRatio: wrong"},
		{wrong, "{TestRatio: wrong_answer, BenchmarkTrain/speed: passed}", "[TestRatio]"},
		{wrong, "graded", "compile_error"},
		{invalid, "rule: import\n", ""},
		{invalid, "score: 0", "score: 1"},
		{equivalent, "mutants", "mutant"},
		{equivalent, "why", "wy"},
		{equivalent, "id: a, ", ""},
		{equivalent, "b", "[b]"},
		{equivalent, "{id: a, why: b}", "a"},
		{equivalent, "[{id: a, why: b}]", "3"},
	} {
		files := coursetest.WithSubmissions()
		files[equivalent] = mutants
		files = coursetest.Change(files, c.file, c.old, c.new)
		kind := strings.TrimSuffix(filepath.Base(c.file), ".yaml")
		assert.ErrorContains(t, coursetest.Validate(t, coursetest.Schema(t, kind), []byte(files[c.file])), "validation failed", "the schema, %s: %s", c.file, c.new)
		_, loading := fixture.Load(course.Open(coursetest.FS(files)), "gears")
		_, marks := course.Open(coursetest.FS(files)).Equivalents("gears")
		assert.Equal(t, kind == "equivalent", marks != nil, "the loader, %s: %s", c.file, c.new)
		assert.Equal(t, kind != "equivalent", loading != nil, "the loader, %s: %s", c.file, c.new)
	}
}

// Both accept these: an editor marks no correct line.
func TestSchemasAccept(t *testing.T) {
	const config = "exercises/gears/exercise.yaml"
	for _, c := range []struct{ old, new string }{
		{"Gear trains", "|\n  Gear trains"},
		{"1m", "1h2m3.5s"},
		{"1m", "+.5s"},
		{"1GiB", "08MiB"},
		{"limit: 1.5", "limit: 2"},
		{"points: 60", "points: 60, kind: correctness, self_reported: false"},
		{"limit: 4", "limit: 4, self_reported: false"},
		{"points: 60", "points: 60, anchor: empty-lists"},
		{"encoding/json", "fmt:Print*"},
		{"- {test: TestRatio, points: 60}", "- {test: TestRatio, points: 57}\n  - {race: [TestRatio], points: 3, hint: Share nothing.}"},
		{"- {test: TestRatio, points: 60}", "- {test: TestRatio, points: 57}\n  - {race: [TestRatio], kind: race, points: 3, hint: Share nothing., feedback: values, anchor: gears}"},
		{"points: 60", "points: 60, needs: [TestAllocs]"},
		{"points: 60", "points: 60, needs: {TestAllocs: [losses, 'history: *']}"},
		{"points: 60", "points: 60, needs: {TestAllocs: []}"},
		{"limit: 4", "limit: 4, needs: [TestRatio, TestAllocs]"},
	} {
		files := coursetest.Change(coursetest.Files(), config, c.old, c.new)
		assert.NoError(t, coursetest.Validate(t, coursetest.Schema(t, "exercise"), []byte(files[config])), c.new)
		_, err := course.Open(coursetest.FS(files)).Load("gears")
		assert.NoError(t, err, c.new)
	}
}
