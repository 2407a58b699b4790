package coursetest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"grade/exercises/schema"
)

// Schema compiles a schema with a validator that shares no code with the loader.
func Schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	data, err := schema.Files.ReadFile(name + ".json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4) // another one than the file must name
	require.NoError(t, c.AddResource(name, doc))
	s, err := c.Compile(name)
	require.NoError(t, err)
	assert.Equal(t, 2020, s.DraftVersion)
	return s
}

// Validate validates YAML by a schema, converted to JSON.
func Validate(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	var value any
	require.NoError(t, yaml.Unmarshal(text, &value))
	data, err := json.Marshal(value)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	return s.Validate(doc)
}

// At returns what stands below some keys of a schema.
func At(n any, keys ...string) any {
	for _, k := range keys {
		n = n.(map[string]any)[k]
	}
	return n
}

// Texts returns a list of texts in a schema.
func Texts(n any) (list []string) {
	for _, v := range n.([]any) {
		list = append(list, v.(string))
	}
	return list
}
