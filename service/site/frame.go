package site

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"mime"
	"path"
	"strings"
	"time"

	"grade/grader/gradebook"
	"grade/grader/report/page"
	"grade/service/people"
)

//go:embed pages/*.tmpl
var templates embed.FS

//go:embed static openapi.json
var files embed.FS

// frame is what a page stands in.
type frame struct {
	View    any
	Page    string
	Person  *people.Person
	Title   string
	Zone    *time.Location
	Now     time.Time
	Path    string
	Assets  map[string]string
	Version string
	Faults  []string // of the course's files
}

// Time formats a time in the zone of the course.
func (f frame) Time(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.In(f.Zone).Format("2 Jan 2006 15:04 MST")
}

// Machine formats a time for programs.
func (f frame) Machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Far says how far a time is from now.
func (f frame) Far(t time.Time) string { return dueWords(t, f.Now) }

// Passed reports whether a time is over.
func (f frame) Passed(t time.Time) bool { return f.Now.After(t) }

// listed is what the template of attempts needs.
type listed struct {
	Frame frame
	List  []attemptRow
}

// With passes a list of attempts to the template for it.
func (f frame) With(list []attemptRow) listed { return listed{f, list} }

// Staff reports whether the reader teaches.
func (f frame) Staff() bool { return f.Person != nil && f.Person.Role.Teaches() }

// At reports whether a page belongs to a part of the site.
func (f frame) At(prefix string) bool { return strings.HasPrefix(f.Path, prefix) }

var functions = template.FuncMap{
	"points": func(p *float64) string {
		if p == nil {
			return "–"
		}
		return gradebook.Number(*p)
	},
	"percent": func(x float64) string { return fmt.Sprintf("%.0f %%", math.Round(100*x)) },
	"story":   storyOf,
	"lower":   strings.ToLower,
}

// pages are the templates by their names, each with the frame.
var pages = func() map[string]*template.Template {
	all := map[string]*template.Template{}
	names, err := fs.Glob(templates, "pages/*.tmpl")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, name := range names {
		base := strings.TrimSuffix(path.Base(name), ".tmpl")
		if base == "frame" {
			continue
		}
		all[base] = template.Must(template.New(base).Funcs(functions).ParseFS(templates, "pages/frame.tmpl", name))
	}
	return all
}()

// assets are style sheets, scripts and pictures by their names, which say what is in them:
// a browser may keep them for ever.
var assets, assetNames = func() (map[string][]byte, map[string]string) {
	data, names := map[string][]byte{}, map[string]string{}
	add := func(name string, content []byte) {
		sum := sha256.Sum256(content)
		full := strings.TrimSuffix(name, path.Ext(name)) + "." + hex.EncodeToString(sum[:6]) + path.Ext(name)
		data[full], names[name] = content, "/static/"+full
	}
	add("report.css", []byte(page.Style()))
	add("gradebook.js", []byte(page.Script()))
	entries, err := files.ReadDir("static")
	if err != nil {
		panic(err) // it is embedded
	}
	for _, e := range entries {
		content, err := files.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		add(e.Name(), content)
	}
	return data, names
}()

func (q *request) static() error {
	content, ok := assets[q.PathValue("file")]
	if !ok {
		return notFound("there is no such file", "load the page anew")
	}
	q.w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	q.w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(q.PathValue("file"))))
	_, _ = q.w.Write(content) // the reader is gone
	return nil
}

func (q *request) icon() error {
	q.w.Header().Set("Cache-Control", "public, max-age=86400")
	q.w.Header().Set("Content-Type", "image/svg+xml")
	icon, err := files.ReadFile("static/icon.svg")
	_, _ = q.w.Write(icon) // the reader is gone
	return err
}

func (q *request) openAPI() error {
	data, err := files.ReadFile("openapi.json")
	if err != nil {
		return err
	}
	q.w.Header().Set("Content-Type", "application/json")
	_, _ = q.w.Write(data) // the reader is gone
	return nil
}
