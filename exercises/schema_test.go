package exercises

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// schemaOf compiles a schema with a validator that knows nothing of ours.
func schemaOf(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	data, err := Schemas.ReadFile("schema/" + name + ".json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4) // so that it counts which one the file names
	require.NoError(t, c.AddResource(name, doc))
	s, err := c.Compile(name)
	require.NoError(t, err)
	assert.Equal(t, 2020, s.DraftVersion)
	return s
}

// validate holds YAML against a schema, by way of JSON.
func validate(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	var value any
	require.NoError(t, yaml.Unmarshal(text, &value))
	data, err := json.Marshal(value)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	return s.Validate(doc)
}

// All files of the shipped exercises are as the schemas say.
func TestSchemasAcceptWhatIsShipped(t *testing.T) {
	for name, pattern := range map[string]string{
		"exercise":   "*/exercise.yaml",
		"expect":     "*/submissions/*/*/expect.yaml",
		"equivalent": "*/equivalent.yaml",
	} {
		s := schemaOf(t, name)
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.NoError(t, validate(t, s, data), file)
		}
	}
	for name, data := range withSubmissions() {
		if file := filepath.Base(name); strings.HasSuffix(file, ".yaml") {
			assert.NoError(t, validate(t, schemaOf(t, strings.TrimSuffix(file, ".yaml")), []byte(data)), name)
		}
	}
}

// An editor finds the schema of what ships by the file's first line.
func TestShippedFilesNameTheirSchema(t *testing.T) {
	files, err := filepath.Glob("*/e*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		first, _, _ := strings.Cut(string(data), "\n")
		way, ok := strings.CutPrefix(first, "# yaml-language-server: $schema=")
		assert.True(t, ok, file)
		assert.Equal(t, "schema/"+strings.TrimSuffix(filepath.Base(file), ".yaml")+".json", filepath.ToSlash(filepath.Join(filepath.Dir(file), way)))
	}
}

// A schema has the fields that are read, in every mapping, and no other.
func TestSchemasHaveTheFieldsThatAreRead(t *testing.T) {
	d := document{&problems{}, ""}
	cfg, policy := &config{Exercise: &Exercise{}}, &policyReader{Policy: NewPolicy(), document: d}
	for _, c := range []struct {
		schema, def string
		fields      fields
	}{
		{"exercise", "", cfg.fields(d)},
		{"exercise", "limits", (&Limits{}).fields()},
		{"exercise", "check", (&checkConfig{}).fields()},
		{"expect", "", (&Expect{}).fields(d, nil, nil)},
		{"equivalent", "", equivalentFields(d, nil)},
		{"equivalent", "mutant", (&Equivalent{}).fields()},
		{"grade", "", policy.fields()},
		{"grade", "rules", policy.rules(&Rules{})},
		{"grade", "late", (&Late{}).fields()},
		{"grade", "extension", (&Extension{}).fields(time.UTC)},
	} {
		s := schemaNode(t, c.schema, c.def)
		assert.Equal(t, slices.Sorted(maps.Keys(c.fields)), slices.Sorted(maps.Keys(s["properties"].(map[string]any))), "%s %s", c.schema, c.def)
		assert.Equal(t, false, s["additionalProperties"], "%s %s", c.schema, c.def)
	}
}

// schemaNode is a schema as it stands, or one of its definitions.
func schemaNode(t *testing.T, name, def string) (s map[string]any) {
	t.Helper()
	data, err := Schemas.ReadFile("schema/" + name + ".json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &s))
	if def != "" {
		s = s["$defs"].(map[string]any)[def].(map[string]any)
	}
	return s
}

// What a schema says in its own words about values is what is read: words, bounds
// and defaults.
func TestSchemasHaveTheValuesThatAreRead(t *testing.T) {
	at := func(n any, keys ...string) any {
		for _, k := range keys {
			n = n.(map[string]any)[k]
		}
		return n
	}
	texts := func(n any) (list []string) {
		for _, v := range n.([]any) {
			list = append(list, v.(string))
		}
		return list
	}
	exercise, expect := schemaNode(t, "exercise", ""), schemaNode(t, "expect", "")
	assert.Equal(t, submissionVerdicts, texts(at(expect, "properties", "verdict", "enum")))
	assert.Equal(t, checkVerdicts, texts(at(expect, "properties", "checks", "additionalProperties", "enum")))
	assert.Equal(t, importGrammar.String(), at(exercise, "properties", "imports", "items", "pattern"))
	assert.Equal(t, anchorGrammar.String(), at(exercise, "$defs", "check", "properties", "anchor", "pattern"))
	assert.EqualValues(t, MaxScore, at(expect, "$defs", "score", "maximum"))
	assert.EqualValues(t, MaxScore, at(exercise, "$defs", "check", "properties", "points", "maximum"))
	assert.EqualValues(t, MaxSelfReported, at(exercise, "$defs", "check", "then", "properties", "points", "maximum"))
	said := at(exercise, "$defs", "check", "properties", "self_reported", "description")
	assert.Contains(t, said, fmt.Sprintf("at most %d points, and %d of all", MaxSelfReported, MaxSelfReportedTotal))
	reserved := texts(at(exercise, "properties", "package", "not", "enum"))
	for tok := token.BREAK; tok <= token.VAR; tok++ {
		assert.Contains(t, reserved, tok.String())
	}
	defaults := Limits{}
	for name, set := range defaults.fields() {
		value, _ := at(exercise, "$defs", "limits", "properties", name, "default").(string)
		assert.NoError(t, set(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}), name)
	}
	assert.Equal(t, DefaultLimits(), defaults)
}

// Neither a schema nor the loader lets these through.
func TestSchemasRefuse(t *testing.T) {
	const (
		config     = "exercises/gears/exercise.yaml"
		accepted   = submissionsRoot + "accepted/loop/expect.yaml"
		wrong      = submissionsRoot + "wrong_answer/off-by-one/expect.yaml"
		invalid    = submissionsRoot + "invalid/imports-os/expect.yaml"
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
		files := withSubmissions()
		files[equivalent] = mutants
		files = change(files, c.file, c.old, c.new)
		kind := strings.TrimSuffix(filepath.Base(c.file), ".yaml")
		assert.Error(t, validate(t, schemaOf(t, kind), []byte(files[c.file])), "the schema, %s: %s", c.file, c.new)
		_, loading := open(files).Submissions("gears")
		_, marks := open(files).Equivalents("gears")
		assert.Equal(t, kind == "equivalent", marks != nil, "the loader, %s: %s", c.file, c.new)
		assert.Equal(t, kind != "equivalent", loading != nil, "the loader, %s: %s", c.file, c.new)
	}
}

// Both let these through: an editor does not mark what is right.
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
	} {
		files := change(course(), config, c.old, c.new)
		assert.NoError(t, validate(t, schemaOf(t, "exercise"), []byte(files[config])), c.new)
		_, err := open(files).Load("gears")
		assert.NoError(t, err, c.new)
	}
}
