package report

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/report/sample"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(ResultSchema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("schema.json", doc))
	s, err := c.Compile("schema.json")
	require.NoError(t, err)
	return s
}

func document(t *testing.T, r *verdict.Result) any {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, JSON(&b, r))
	doc, err := jsonschema.UnmarshalJSON(&b)
	require.NoError(t, err)
	return doc
}

func TestSchemaAcceptsEveryReport(t *testing.T) {
	s := compileSchema(t)
	for name, r := range samples() {
		t.Run(name, func(t *testing.T) { assert.NoError(t, s.Validate(document(t, r))) })
	}
}

func TestSchemaRefuses(t *testing.T) {
	s := compileSchema(t)
	for name, spoil := range map[string]func(*verdict.Result){
		"no verdict":                 func(r *verdict.Result) { r.Verdict = "" },
		"no verdict of a check":      func(r *verdict.Result) { r.Checks[0].Verdict = "" },
		"a submission's for a check": func(r *verdict.Result) { r.Checks[0].Verdict = verdict.Graded },
		"another schema":             func(r *verdict.Result) { r.Schema = "grade/result/v0" },
		"a short seed":               func(r *verdict.Result) { r.Seed = "1f" },
		"an unknown sandbox":         func(r *verdict.Result) { r.Sandbox.Kind = "chroot" },
		"points below zero":          func(r *verdict.Result) { r.Score = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			r := sample.AllPoints()
			spoil(r)
			assert.Error(t, s.Validate(document(t, r)))
		})
	}
}

// The schema says of every field of a result that it is there, and what it means.
func TestSchemaCoversEveryField(t *testing.T) {
	var schema map[string]any
	require.NoError(t, json.Unmarshal(ResultSchema, &schema))
	defs := schema["$defs"].(map[string]any)
	covers(t, "result", schema, defs, reflect.TypeFor[verdict.Result]())
}

func covers(t *testing.T, path string, schema, defs map[string]any, typ reflect.Type) {
	t.Helper()
	if either, ok := schema["anyOf"].([]any); ok { // or null
		schema = either[0].(map[string]any)
	}
	if ref, ok := schema["$ref"].(string); ok {
		schema = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ.Kind() == reflect.Slice:
		covers(t, path+"[]", schema["items"].(map[string]any), defs, typ.Elem())
	case typ.Kind() == reflect.Struct && typ.PkgPath() != "time":
		assert.Equal(t, false, schema["additionalProperties"], path)
		props := schema["properties"].(map[string]any)
		fields := fieldsOf(typ)
		assert.Len(t, props, len(fields), path)
		required, _ := schema["required"].([]any)
		for _, f := range fields {
			name, empty, _ := strings.Cut(f.Tag.Get("json"), ",")
			assert.Equal(t, empty != "omitempty", slices.Contains(required, any(name)), "%s.%s is required unless it is left out where it is empty", path, name)
			prop, ok := props[name].(map[string]any)
			if assert.True(t, ok, "%s.%s is not in the schema", path, name) {
				assert.NotEmpty(t, prop["description"], "%s.%s", path, name)
				covers(t, path+"."+name, prop, defs, f.Type)
			}
		}
	}
}

// fieldsOf lists the fields of a struct as JSON has them: those of an embedded struct are its
// own.
func fieldsOf(typ reflect.Type) (list []reflect.StructField) {
	for f := range typ.Fields() {
		if f.Anonymous {
			list = append(list, fieldsOf(f.Type)...)
			continue
		}
		list = append(list, f)
	}
	return list
}

func TestSchemaNamesTheVerdicts(t *testing.T) {
	var schema struct {
		Properties struct {
			Verdict struct{ Enum []verdict.Verdict }
		}
		Defs struct {
			Check struct {
				Properties struct {
					Verdict struct {
						Enum        []verdict.Verdict
						Description string
					}
				}
			}
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(ResultSchema, &schema))
	check := schema.Defs.Check.Properties.Verdict
	assert.Equal(t, verdict.SubmissionVerdicts, schema.Properties.Verdict.Enum)
	assert.Equal(t, verdict.CheckVerdicts, check.Enum)
	for _, v := range verdict.CheckVerdicts {
		assert.Contains(t, check.Description, string(v)+":")
		assert.NotEqual(t, "unknown verdict", wording.Verdict(v))
	}
	assert.Equal(t, "unknown verdict", wording.Verdict(""), "the zero value has no friendly name")
}

func TestJSONHasNoNullLists(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, JSON(&b, &verdict.Result{}))
	assert.NotContains(t, b.String(), "null")
	assert.True(t, strings.HasSuffix(b.String(), "}\n"))
}
