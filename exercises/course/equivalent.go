package course

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"gopkg.in/yaml.v3"

	"grade/exercises/course/document"
)

const equivalentFile = "equivalent.yaml"

// Equivalent marks a mutant of the reference that meets the exercise's rules as the
// original does, so that no test can fail on it.
type Equivalent struct {
	Mutant string // its ID, or a pattern of [path.Match] that IDs fit
	Why    string // one line
	Line   int    // of equivalent.yaml
}

// Marks reports whether it is about the mutant.
func (x Equivalent) Marks(id string) bool {
	fits, err := path.Match(x.Mutant, id)
	return x.Mutant == id || err == nil && fits
}

// Equivalents reads an exercise's equivalent.yaml; it returns nil if there is none.
func (c *Course) Equivalents(name string) ([]Equivalent, error) {
	p := &document.Faults{Doing: "load exercise " + name}
	data, err := fs.ReadFile(c.fsys, path.Join(ExercisesDir, name, equivalentFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Doing, err)
	}
	var list []Equivalent
	d := document.File{Faults: p, Name: equivalentFile}
	d.Read(data, equivalentFields(d, &list))
	return list, p.Join()
}

// equivalentFields lists the fields at the top. schema/equivalent.json documents them.
func equivalentFields(d document.File, list *[]Equivalent) document.Fields {
	return document.Fields{"mutants": func(n *yaml.Node) error { *list = equivalentsOf(d, n); return nil }}
}

func (x *Equivalent) fields() document.Fields {
	return document.Fields{"id": document.Line(&x.Mutant), "why": document.Line(&x.Why)}
}

func equivalentsOf(d document.File, n *yaml.Node) (list []Equivalent) {
	if n.Kind != yaml.SequenceNode {
		d.Add(d.Name, n.Line, "mutants: want a list, not %s", document.Show(n))
		return nil
	}
	seen := map[string]bool{}
	for _, entry := range n.Content {
		x := Equivalent{Line: entry.Line}
		has := d.Mapping("mutants: ", entry, x.fields())
		switch {
		case has == nil:
		case has["id"] == 0 || has["why"] == 0:
			d.Add(d.Name, entry.Line, "a mutant needs an id and a why")
		case seen[x.Mutant]:
			d.Add(d.Name, entry.Line, "%s is listed twice", x.Mutant)
		default:
			seen[x.Mutant] = true
			list = append(list, x)
		}
	}
	return list
}
