package report

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/gradebook"
	"grade/grader/report/sample"
	"grade/grader/verdict"
)

var gradebookSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(GradebookSchema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("gradebook.schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("gradebook.schema.json")
})

func validGradebook(t *testing.T, out []byte) error {
	s, err := gradebookSchema()
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
	require.NoError(t, err)
	return s.Validate(doc)
}

// readJSONCourse holds a document to its schema and finds in it what the gradebook has.
func readJSONCourse(t *testing.T, out []byte, b *gradebook.Book) {
	readJSON(t, out, nil)
	require.NoError(t, validGradebook(t, out))
	var doc gradebookDocument
	require.NoError(t, json.Unmarshal(out, &doc))
	require.Len(t, doc.Students, len(b.Rows))
	for i, r := range b.Rows {
		require.Len(t, doc.Students[i].Cells, len(b.Columns))
		for j, c := range r.Cells {
			got := doc.Students[i].Cells[j]
			assert.Equal(t, c.Points, got.Points)
			assert.Len(t, got.Attempts, len(c.Attempts))
			assert.Equal(t, c.Missing != nil, got.Missing != nil)
			assert.Equal(t, c.Counts != nil, got.Counts != nil)
		}
	}
}

func TestGradebookSchemaRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*gradebook.Book){
		"no verdict":        func(b *gradebook.Book) { b.Rows[0].Cells[0].Attempts[0].Result.Verdict = "" },
		"points below zero": func(b *gradebook.Book) { b.Rows[0].Cells[0].Points = new(-1.0) },
		"a short seed":      func(b *gradebook.Book) { b.Rows[0].Cells[0].Attempts[0].Result.Seed = "1f" },
		"no such count":     func(b *gradebook.Book) { b.Columns[0].Count = "" },
		"attempt 0":         func(b *gradebook.Book) { b.Rows[0].Cells[0].Attempts[0].Number = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			b := sample.SmallCourse()
			spoil(b)
			assert.Error(t, validGradebook(t, writtenCourse(t, "json", b)))
		})
	}
}

// The schema says of every field that it is there, and what it means.
func TestGradebookSchemaCoversEveryField(t *testing.T) {
	var schema map[string]any
	require.NoError(t, json.Unmarshal(GradebookSchema, &schema))
	covers(t, "book", schema, schema["$defs"].(map[string]any), reflect.TypeFor[gradebookDocument]())
	assert.Equal(t, gradebookSchemaID, schema["properties"].(map[string]any)["schema"].(map[string]any)["const"])
	verdicts := schema["$defs"].(map[string]any)["attempt"].(map[string]any)["properties"].(map[string]any)["verdict"].(map[string]any)["enum"]
	assert.Equal(t, []any{string(verdict.SubmissionVerdicts[0]), string(verdict.SubmissionVerdicts[1]), string(verdict.SubmissionVerdicts[2])}, verdicts)
}
