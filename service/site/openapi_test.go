package site

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write openapi.json anew")

// described says of each stable route what its answer is.
var described = map[string]struct {
	summary string
	status  int
	view    any // what it answers with; nil: nothing as JSON
}{
	"GET /{$}":                                 {"The exercises of the course, and how far the person has come with each.", 200, homeView{}},
	"GET /{exercise}":                          {"One exercise, with its text as HTML and the person's attempts.", 200, exerciseView{}},
	"POST /{exercise}/attempts":                {"Hand in: a form (multipart/form-data) with the Go files, or one archive, as files, or the text of a single file as text. The answer comes when it is kept for good. What equals the attempt before is that attempt.", 201, attemptView{}},
	"GET /{exercise}/attempts/{number}":        {"One attempt of the person, with its result once it is graded.", 200, attemptView{}},
	"GET /{exercise}/attempts/{number}/events": {"What becomes of an attempt, as server-sent events whose data is News; the stream ends with the attempt's verdict.", 200, nil},
	"POST /devices":                            {"Ask for a token: a form with the name of the machine. A person approves the code at the address.", 201, asked{}},
	"POST /devices/{code}/token":               {"The token of an approved code: a form with the secret. 202 as long as it is not approved.", 200, grantedView{}},
	"GET /course":                              {"The gradebook. For staff.", 200, gradebookView{}},
	"GET /course/students/{student}":           {"All that a student has handed in. For staff.", 200, storyView{}},
	"GET /course/students/{student}/{exercise}/attempts/{number}": {"One attempt of a student, with its result in full. For staff.", 200, attemptView{}},
	"GET /course/exercises/{exercise}":                            {"The checks that fail, most often first. For staff.", 200, checksView{}},
	"GET /course/queue":                                           {"The queue, its workers, and what is without a verdict. For staff.", 200, queueView{}},
}

// forms says of the stable routes that take a form what is in it. Files come in many parts.
var forms = map[string]map[string]any{
	"POST /{exercise}/attempts": form("multipart/form-data", map[string]any{
		"files": map[string]any{"type": "array", "items": map[string]any{"type": "string", "contentMediaType": "application/octet-stream"}},
		"text":  text,
	}),
	"POST /devices":              form("application/x-www-form-urlencoded", map[string]any{"name": text}, "name"),
	"POST /devices/{code}/token": form("application/x-www-form-urlencoded", map[string]any{"secret": text}, "secret"),
}

var text = map[string]any{"type": "string"}

// form is the body of a request that is a form.
func form(media string, fields map[string]any, required ...string) map[string]any {
	schema := map[string]any{"type": "object", "properties": fields}
	if len(required) > 0 {
		schema["required"] = required
	}
	return map[string]any{"required": true, "content": map[string]any{media: map[string]any{"schema": schema}}}
}

// schemas collects the schemas of Go types by their names.
type schemas map[string]any

// of returns the schema of a type, as encoding/json writes it.
func (s schemas) of(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[time.Duration]():
		return map[string]any{"type": "integer", "description": "nanoseconds"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{s.of(t.Elem()), map[string]any{"type": "null"}}}
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": []any{"array", "null"}, "items": s.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Struct:
		return s.object(t)
	}
	return map[string]any{"type": "integer"}
}

// object refers to the schema of a struct.
func (s schemas) object(t reflect.Type) map[string]any {
	name := strings.ToUpper(t.Name()[:1]) + strings.TrimSuffix(t.Name()[1:], "View")
	if s[name] == nil {
		o := map[string]any{"type": "object"}
		s[name] = o // before its fields, which may refer to it
		properties, required := map[string]any{}, []string{}
		s.fields(t, properties, &required)
		o["properties"], o["required"] = properties, required
	}
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

func (s schemas) fields(t reflect.Type, properties map[string]any, required *[]string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			s.fields(inner, properties, required)
		case name != "-" && name != "" && f.IsExported():
			properties[name] = s.of(f.Type)
			if !strings.Contains(options, "omit") {
				*required = append(*required, name)
			}
		}
	}
	slices.Sort(*required)
}

// document is the OpenAPI document of what is stable.
func document() map[string]any {
	all, paths := schemas{}, map[string]any{}
	problem := all.of(reflect.TypeFor[Problem]())
	all.of(reflect.TypeFor[news]())
	for _, route := range Routes() {
		if !route.Stable {
			continue
		}
		d := described[route.Method+" "+route.Pattern]
		content := map[string]any{"text/event-stream": map[string]any{}}
		if d.view != nil {
			content = map[string]any{"application/json": map[string]any{"schema": all.of(reflect.TypeOf(d.view))}}
		}
		operation := map[string]any{
			"summary": d.summary, "parameters": parameters(route.Pattern),
			"responses": map[string]any{
				statusName(d.status): map[string]any{"description": http.StatusText(d.status), "content": content},
				"default":            map[string]any{"description": "What is wrong, and what to do.", "content": map[string]any{"application/problem+json": map[string]any{"schema": problem}}},
			},
		}
		if body := forms[route.Method+" "+route.Pattern]; body != nil {
			operation["requestBody"] = body
		}
		if route.polled() {
			operation["responses"].(map[string]any)["202"] = map[string]any{"description": "Not approved yet: ask again."}
		}
		if route.For == Anyone {
			operation["security"] = []any{}
		}
		path := strings.ReplaceAll(route.Pattern, "{$}", "")
		if paths[path] == nil {
			paths[path] = map[string]any{}
		}
		paths[path].(map[string]any)[strings.ToLower(route.Method)] = operation
	}
	return map[string]any{
		"openapi":    "3.1.0",
		"info":       map[string]any{"title": "grade", "version": "1", "description": "What of a course's service is stable. Every address answers with JSON under Accept: application/json, and else with a page. Fields may be added."},
		"security":   []any{map[string]any{"token": []any{}}},
		"paths":      paths,
		"components": map[string]any{"schemas": all, "securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer", "description": "of grade login"}}},
	}
}

func statusName(status int) string { return fmt.Sprint(status) }

var inPath = regexp.MustCompile(`\{(\w+)\}`)

func parameters(pattern string) []any {
	list := []any{}
	for _, m := range inPath.FindAllStringSubmatch(pattern, -1) {
		kind := "string"
		if m[1] == "number" {
			kind = "integer"
		}
		list = append(list, map[string]any{"name": m[1], "in": "path", "required": true, "schema": map[string]any{"type": kind}})
	}
	return list
}

// The document that is served is that of the routes and of what they answer with.
func TestOpenAPIIsFresh(t *testing.T) {
	for _, route := range Routes() {
		_, ok := described[route.Method+" "+route.Pattern]
		assert.Equal(t, route.Stable, ok, "%s %s", route.Method, route.Pattern)
	}
	want, err := json.MarshalIndent(document(), "", "  ")
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile("openapi.json", append(want, '\n'), 0o666))
	}
	got, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	assert.Equal(t, string(want)+"\n", string(got), "run: go test ./service/site -run OpenAPI -update")
}

// Real answers are as the document says.
func TestAnswersAreAsDocumented(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	compiler := jsonschema.NewCompiler()
	doc, err := os.Open("openapi.json")
	require.NoError(t, err)
	defer doc.Close()
	parsed, err := jsonschema.UnmarshalJSON(doc)
	require.NoError(t, err)
	require.NoError(t, compiler.AddResource("openapi.json", parsed))
	holds := func(name string, a answer) {
		t.Helper()
		schema, err := compiler.Compile("openapi.json#/components/schemas/" + name)
		require.NoError(t, err)
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(a.body))
		require.NoError(t, err, a.body)
		require.NoError(t, schema.Validate(value), a.body)
	}
	ada, grace := w.signedIn("ada").json(), w.signedIn("grace").json()
	holds("Attempt", ada.handIn(gears, solution("x")))
	w.graded("ada", 1)
	holds("Home", ada.get("/"))
	holds("Exercise", ada.get("/gears"))
	holds("Attempt", ada.get("/gears/attempts/1"))
	holds("Problem", ada.get("/gears/attempts/2"))
	holds("Gradebook", grace.get("/course"))
	holds("Story", grace.get("/course/students/ada"))
	holds("Attempt", grace.get("/course/students/ada/gears/attempts/1"))
	holds("Checks", grace.get("/course/exercises/gears"))
	holds("Queue", grace.get("/course/queue"))
	asking := w.nobody().json().post("/devices", nil)
	holds("Asked", asking)
	wish := decode[asked](t, asking)
	require.Equal(t, http.StatusOK, w.signedIn("ada").post("/devices/"+wish.Code, nil).status)
	holds("Granted", w.nobody().json().post("/devices/"+wish.Code+"/token", url.Values{"secret": {wish.Secret}}))
	for line := range strings.Lines(ada.get("/gears/attempts/1/events").body) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			holds("News", answer{body: data})
		}
	}
}
