package course

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"grade/exercises/course/document"
)

// ChaptersFile is the name of the file below [ExercisesDir] that orders the exercises.
const ChaptersFile = "chapters.yaml"

// Chapter is a part of the course, with its exercises in the order in which they are meant
// to be solved.
type Chapter struct {
	Title   string // "": of the exercises that no chapter names
	Entries []Entry
}

// Entry is an exercise as a chapter shows it. Nothing of it influences a grade.
type Entry struct {
	Name       string
	Difficulty Difficulty // "": not stated
	Hours      float64    // that a student needs; 0: not stated
	After      []string   // exercises that a student should have solved before
}

// Effort says what an exercise asks of a student, such as "medium, 3 hours, after trainer".
func (e Entry) Effort() string {
	var parts []string
	if e.Difficulty != "" {
		parts = append(parts, string(e.Difficulty))
	}
	if e.Hours == 1 {
		parts = append(parts, "1 hour")
	} else if e.Hours > 0 {
		parts = append(parts, fmt.Sprintf("%g hours", e.Hours))
	}
	if len(e.After) > 0 {
		parts = append(parts, "after "+strings.Join(e.After, " and "))
	}
	return strings.Join(parts, ", ")
}

// Difficulty says how hard an exercise is for a student of the course.
type Difficulty string

// The values of Difficulty.
const (
	Easy   Difficulty = "easy"
	Medium Difficulty = "medium"
	Hard   Difficulty = "hard"
)

// Chapters reads chapters.yaml. Exercises that it does not name, or all where there is no
// such file, come last, in a chapter without a title.
func (c *Course) Chapters() ([]Chapter, error) {
	names, err := c.Names()
	if err != nil {
		return nil, err
	}
	data, err := fs.ReadFile(c.fsys, path.Join(ExercisesDir, ChaptersFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the chapters: %w", err)
	}
	r := &chapterReader{File: document.File{Faults: &document.Faults{Doing: "read the chapters"}, Name: path.Join(ExercisesDir, ChaptersFile)}, names: names, line: map[string]int{}}
	if err == nil {
		r.Read(data, r.fields())
		r.checkOrder()
	}
	if rest := r.unnamed(); len(rest) > 0 {
		r.list = append(r.list, Chapter{Entries: rest})
	}
	return r.list, r.Join()
}

type chapterReader struct {
	document.File
	names []string // of the course's exercises
	list  []Chapter
	line  map[string]int // of the entries so far, by name
}

// fields lists the fields at the top.
func (r *chapterReader) fields() document.Fields { return document.Fields{"chapters": r.chapters} }

// each reads a list of mappings.
func (r *chapterReader) each(n *yaml.Node, read func(*yaml.Node)) error {
	if n.Kind != yaml.SequenceNode {
		return fmt.Errorf("want a list, not %s", document.Show(n))
	}
	for _, entry := range n.Content {
		read(entry)
	}
	return nil
}

func (r *chapterReader) chapters(n *yaml.Node) error {
	return r.each(n, func(n *yaml.Node) {
		var ch Chapter
		has := r.Mapping("chapters: ", n, r.chapter(&ch))
		r.require(has, n, "title", "exercises")
		r.list = append(r.list, ch)
	})
}

// chapter lists the fields of a chapter. schema/chapters.json documents them.
func (r *chapterReader) chapter(ch *Chapter) document.Fields {
	return document.Fields{
		"title": document.Line(&ch.Title),
		"exercises": func(n *yaml.Node) error {
			return r.each(n, func(n *yaml.Node) { r.entry(ch, n) })
		},
	}
}

func (r *chapterReader) entry(ch *Chapter, n *yaml.Node) {
	var e Entry
	has := r.Mapping("exercises: ", n, e.fields())
	r.require(has, n, "name")
	switch {
	case e.Name == "":
		return
	case !slices.Contains(r.names, e.Name):
		r.Add(r.Name, n.Line, "there is no exercise %q; the course has %s", e.Name, strings.Join(r.names, ", "))
	case r.line[e.Name] != 0:
		r.Add(r.Name, n.Line, "exercise %q stands in line %d already", e.Name, r.line[e.Name])
	}
	r.line[e.Name] = n.Line
	ch.Entries = append(ch.Entries, e)
}

// fields lists the fields of an entry.
func (e *Entry) fields() document.Fields {
	return document.Fields{
		"name":       document.Line(&e.Name),
		"difficulty": document.OneOf(&e.Difficulty, Easy, Medium, Hard),
		"hours": func(n *yaml.Node) error {
			if err := document.Number(&e.Hours)(n); err != nil || e.Hours <= 0 {
				return fmt.Errorf("want a number of hours above 0, not %s", document.Show(n))
			}
			return nil
		},
		"after": document.List(&e.After),
	}
}

func (r *chapterReader) require(has map[string]int, n *yaml.Node, fields ...string) {
	for _, f := range fields {
		if has != nil && has[f] == 0 {
			r.Add(r.Name, n.Line, "field %q is missing", f)
		}
	}
}

// checkOrder refuses an exercise that comes after one that stands below it. So there is no
// circle either.
func (r *chapterReader) checkOrder() {
	for _, ch := range r.list {
		for _, e := range ch.Entries {
			for _, before := range e.After {
				switch line := r.line[before]; {
				case line == 0:
					r.Add(r.Name, r.line[e.Name], "%s: after: no chapter has an exercise %q", e.Name, before)
				case before == e.Name:
					r.Add(r.Name, line, "%s: after: it cannot come before itself", e.Name)
				case line > r.line[e.Name]:
					r.Add(r.Name, r.line[e.Name], "%s: after: %s stands further down, in line %d: what comes before stands above", e.Name, before, line)
				}
			}
		}
	}
}

func (r *chapterReader) unnamed() (rest []Entry) {
	for _, name := range r.names {
		if r.line[name] == 0 {
			rest = append(rest, Entry{Name: name})
		}
	}
	return rest
}
