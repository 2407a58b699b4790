package exercises

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"gopkg.in/yaml.v3"
)

const equivalentFile = "equivalent.yaml"

// Equivalent says of a mutant of the reference that nobody could tell it from the
// original, by what the exercise asks for.
type Equivalent struct {
	Mutant string // its ID
	Why    string // one line
	Line   int    // of equivalent.yaml
}

// Equivalents reads an exercise's equivalent.yaml; none if there is no such file.
func (c *Course) Equivalents(name string) ([]Equivalent, error) {
	p := &problems{doing: "load exercise " + name}
	data, err := fs.ReadFile(c.fsys, path.Join(exercisesDir, name, equivalentFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.doing, err)
	}
	var list []Equivalent
	d := document{p, equivalentFile}
	d.read(data, equivalentFields(d, &list))
	return list, p.join()
}

// equivalentFields are the fields at the top. Their meaning stands in
// schema/equivalent.json.
func equivalentFields(d document, list *[]Equivalent) fields {
	return fields{"mutants": func(n *yaml.Node) error { *list = d.equivalents(n); return nil }}
}

func (x *Equivalent) fields() fields { return fields{"id": line(&x.Mutant), "why": line(&x.Why)} }

func (d document) equivalents(n *yaml.Node) (list []Equivalent) {
	if n.Kind != yaml.SequenceNode {
		d.add(d.file, n.Line, "mutants: want a list, not %s", show(n))
		return nil
	}
	seen := map[string]bool{}
	for _, entry := range n.Content {
		x := Equivalent{Line: entry.Line}
		has := d.mapping("mutants: ", entry, x.fields())
		switch {
		case has == nil:
		case has["id"] == 0 || has["why"] == 0:
			d.add(d.file, entry.Line, "a mutant that is equivalent has an id and a why")
		case seen[x.Mutant]:
			d.add(d.file, entry.Line, "%s: a second time", x.Mutant)
		default:
			seen[x.Mutant] = true
			list = append(list, x)
		}
	}
	return list
}
