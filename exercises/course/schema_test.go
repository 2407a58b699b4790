package course

import (
	"encoding/json"
	"fmt"
	"go/token"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"grade/exercises/course/coursetest"
	"grade/exercises/schema"
)

// The words, bounds and defaults in the schema of an exercise are those of the loader.
func TestSchemaHasTheValuesThatAreRead(t *testing.T) {
	data, err := schema.Files.ReadFile("exercise.json")
	require.NoError(t, err)
	var exercise map[string]any
	require.NoError(t, json.Unmarshal(data, &exercise))
	assert.Equal(t, importGrammar.String(), coursetest.At(exercise, "properties", "imports", "items", "pattern"))
	assert.Equal(t, anchorGrammar.String(), coursetest.At(exercise, "$defs", "check", "properties", "anchor", "pattern"))
	assert.EqualValues(t, MaxScore, coursetest.At(exercise, "$defs", "check", "properties", "points", "maximum"))
	assert.EqualValues(t, maxSelfReported, coursetest.At(exercise, "$defs", "check", "then", "properties", "points", "maximum"))
	said := coursetest.At(exercise, "$defs", "check", "properties", "self_reported", "description")
	assert.Contains(t, said, fmt.Sprintf("at most %d points, and %d of all", maxSelfReported, maxSelfReportedTotal))
	reserved := coursetest.Texts(coursetest.At(exercise, "properties", "package", "not", "enum"))
	for tok := token.BREAK; tok <= token.VAR; tok++ {
		assert.Contains(t, reserved, tok.String())
	}
	defaults := Limits{}
	for name, set := range defaults.fields() {
		value, _ := coursetest.At(exercise, "$defs", "limits", "properties", name, "default").(string)
		assert.NoError(t, set(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}), name)
	}
	assert.Equal(t, defaultLimits(), defaults)
}
