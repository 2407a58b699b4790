package schema_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/schema"
)

var update = flag.Bool("update", false, "write the references in docs anew")

// references names the schemas of each reference.
var references = map[string][]string{
	"exercise-yaml": {"exercise", "expect", "equivalent"},
	"grade-yaml":    {"grade"},
	"chapters-yaml": {"chapters"},
}

// The references in docs/ are made from the schemas; `make docs` writes them.
func TestReferenceIsFresh(t *testing.T) {
	for file, schemas := range references {
		var b bytes.Buffer
		b.WriteString("# Reference of " + schemas[0] + ".yaml\n\n" +
			"Made from the schemas in [exercises/schema](../exercises/schema) by `make docs`: change them, and not this file. An editor with\n" +
			"a YAML language server shows the same beside each field.\n")
		for _, name := range schemas {
			data, err := schema.Files.ReadFile(name + ".json")
			require.NoError(t, err)
			var s schemaDoc
			require.NoError(t, json.Unmarshal(data, &s))
			s.write(t, &b, s.Title, 2, s.Defs)
		}
		name := "../../docs/" + file + ".md"
		if *update {
			require.NoError(t, os.WriteFile(name, b.Bytes(), 0o666))
		}
		got, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.True(t, b.String() == string(got), "%s is stale: make docs", name)
	}
}

// schemaDoc is the part of a schema that the reference shows. A schema repeats its
// conditions between fields in descriptions, because no table shows them.
type schemaDoc struct {
	Ref         string `json:"$ref"`
	Title       string
	Description string
	Type        string
	Enum        []string
	Default     any
	Minimum     *float64
	Maximum     *float64
	Above       *float64 `json:"exclusiveMinimum"`
	Examples    []any
	Required    []string
	OneOf       []struct{ Required []string }
	AnyOf       []schemaDoc
	Properties  inOrder
	Items       *schemaDoc
	Values      json.RawMessage      `json:"additionalProperties"`
	Defs        map[string]schemaDoc `json:"$defs"`
}

// inOrder returns the fields of a mapping in the order of the schema's file.
type inOrder []field

type field struct {
	name   string
	schema schemaDoc
}

func (f *inOrder) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		one := field{name: key.(string)}
		if err := d.Decode(&one.schema); err != nil {
			return err
		}
		*f = append(*f, one)
	}
	return nil
}

// write writes the table of a mapping, and after it the tables of the mappings in it.
func (s schemaDoc) write(t *testing.T, b *bytes.Buffer, title string, level int, defs map[string]schemaDoc) {
	fmt.Fprintf(b, "\n%s %s\n\n%s\n\n| field | value | |\n|---|---|---|\n", strings.Repeat("#", level), title, s.Description)
	for _, f := range s.Properties {
		require.NotEmpty(t, f.schema.Description, "%s of %s has no description", f.name, title)
		meaning := []string{f.schema.Description}
		if !s.requires(f.name) {
			meaning = append([]string{"Optional."}, meaning...)
		}
		if f.schema.Default != nil {
			meaning = append(meaning, fmt.Sprintf("Default: `%v`.", f.schema.Default))
		}
		for _, example := range f.schema.Examples {
			text, err := json.Marshal(example)
			require.NoError(t, err)
			meaning = append(meaning, fmt.Sprintf("For example `%s`", strings.Trim(string(text), `"`)))
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.name, f.schema.value(defs), strings.Join(meaning, " "))
	}
	for _, f := range s.Properties {
		inner := f.schema.resolve(defs)
		if f.schema.Items != nil {
			inner = f.schema.Items.resolve(defs)
		}
		if len(inner.Properties) > 0 {
			inner.write(t, b, cmp.Or(inner.Title, f.name), level+1, defs)
		}
	}
}

// requires reports whether a field is required, if only in some cases.
func (s schemaDoc) requires(name string) bool {
	required := s.Required
	for _, c := range s.OneOf {
		required = append(required, c.Required...)
	}
	return slices.Contains(required, name)
}

// resolve follows a reference to a definition.
func (s schemaDoc) resolve(defs map[string]schemaDoc) schemaDoc {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		return defs[name]
	}
	return s
}

// value describes a field's value in a few words.
func (s schemaDoc) value(defs map[string]schemaDoc) string {
	r := s.resolve(defs)
	var values schemaDoc
	_ = json.Unmarshal(r.Values, &values) // false, where no other field may be
	switch {
	case len(r.Properties) > 0:
		return "[" + r.Title + "](#" + r.Title + ")"
	case len(values.Enum) > 0:
		return "names, each with " + words(values.Enum)
	case r.Items != nil:
		if inner := r.Items.resolve(defs); len(inner.Properties) > 0 {
			return "list of [" + inner.Title + "](#" + inner.Title + ")"
		}
		return "list of texts"
	case len(r.Enum) > 0:
		return words(r.Enum)
	case len(values.AnyOf) > 0: // the first is the one to write
		return "names, each with " + values.AnyOf[0].value(defs)
	case r.Type == "integer" && r.Maximum == nil:
		return fmt.Sprintf("a whole number from %v on", *r.Minimum)
	case r.Type == "integer":
		return fmt.Sprintf("%v to %v", *r.Minimum, *r.Maximum)
	case r.Type == "number" && r.Above == nil:
		return cmp.Or(r.Title, fmt.Sprintf("a number from %v on", *r.Minimum))
	case r.Type == "number":
		return fmt.Sprintf("a number above %v", *r.Above)
	case r.Type == "boolean":
		return "`true` or `false`"
	case r.Title != "" && r.Description != "":
		return r.Title + ": " + strings.TrimSuffix(strings.ToLower(r.Description[:1])+r.Description[1:], ".")
	}
	return cmp.Or(r.Title, "a name")
}

func words(list []string) string { return "`" + strings.Join(list, "`, `") + "`" }
