package course

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"grade/exercises/course/document"
)

// ParsePolicy reads a grade.yaml, which faults name as file. Names are the names of the
// course's exercises.
func ParsePolicy(file string, data []byte, names []string) (*Policy, error) {
	r := &policyReader{Policy: NewPolicy(), File: document.File{Faults: &document.Faults{Doing: "read the rules of the course"}, Name: file}, names: names}
	r.File.Read(data, r.fields())
	// Times need the zone and exercises the defaults, which may stand further down.
	r.section("defaults", func(n *yaml.Node) error { r.Mapping("defaults: ", n, r.rules(&r.Defaults)); return nil })
	r.section("exercises", r.readExercises)
	r.section("extensions", r.readExtensions)
	if err := r.Join(); err != nil {
		return nil, err
	}
	return r.Policy, nil
}

type policyReader struct {
	*Policy
	document.File
	names    []string
	sections map[string]*yaml.Node // read last
}

// fields lists the fields at the top. schema/grade.json documents them.
func (r *policyReader) fields() document.Fields {
	r.sections = map[string]*yaml.Node{}
	later := func(name string) func(*yaml.Node) error {
		return func(n *yaml.Node) error { r.sections[name] = n; return nil }
	}
	return document.Fields{
		"title":       document.Line(&r.Title),
		"submissions": pattern(&r.Submissions),
		"timezone":    zone(&r.Zone),
		"times":       beside(&r.Times),
		"roster":      beside(&r.Roster),
		"board":       document.Truth(&r.Board),
		"defaults":    later("defaults"),
		"exercises":   later("exercises"),
		"extensions":  later("extensions"),
	}
}

func (r *policyReader) section(name string, read func(*yaml.Node) error) {
	n := r.sections[name]
	if n == nil {
		return
	}
	if err := read(n); err != nil {
		r.Add(r.Name, n.Line, "%s: %w", name, err)
	}
}

// rules lists the fields of an exercise and of the defaults.
func (r *policyReader) rules(to *Rules) document.Fields {
	return document.Fields{
		"weight":   atLeastZero(&to.Weight),
		"due":      moment(&to.Due, r.Zone),
		"late":     r.late(&to.Late),
		"attempts": positive(&to.Attempts),
		"count":    document.OneOf(&to.Count, CountBest, CountLast),
		"canvas":   document.Line(&to.Canvas),
	}
}

func (r *policyReader) late(to **Late) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		l := &Late{Most: 100}
		has := r.Mapping("late: ", n, l.fields())
		if l.Until > 0 && l.Grace > l.Until {
			r.Add(r.Name, n.Line, "late: grace is longer than until")
		}
		if has["deduct"] == 0 && (has["per"] != 0 || has["most"] != 0) {
			r.Add(r.Name, n.Line, "late: per and most have no effect without deduct: add it")
		}
		*to = l
		return nil
	}
}

func (l *Late) fields() document.Fields {
	return document.Fields{
		"grace":  document.Duration(&l.Grace),
		"deduct": percent(&l.Deduct),
		"per":    document.Duration(&l.Per),
		"most":   percent(&l.Most),
		"until":  document.Duration(&l.Until),
	}
}

// readExercises reads a mapping from names to rules, in its order.
func (r *policyReader) readExercises(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("want names of exercises with their rules, not %s", document.Show(n))
	}
	f, canvas := document.Fields{}, map[string]int{} // the lines of canvas: by exercise
	for _, name := range r.names {
		f[name] = func(n *yaml.Node) error {
			one := r.Defaults
			one.Exercise = name
			if n.ShortTag() != "!!null" { // nothing but the defaults
				canvas[name] = r.Mapping(name+": ", n, r.rules(&one))["canvas"]
			}
			r.Exercises = append(r.Exercises, one)
			return nil
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; f[key.Value] == nil {
			r.Add(r.Name, key.Line, "exercises: there is no exercise %q; the course has %s", key.Value, strings.Join(r.names, ", "))
			f[key.Value] = func(*yaml.Node) error { return nil } // one fault is enough
		}
	}
	lines := r.Mapping("exercises: ", n, f)
	for name, line := range canvas {
		lines[name] = cmp.Or(max(line, 0), lines[name])
	}
	r.checkCanvas(lines)
	return nil
}

// CanvasColumns are the columns before the assignments in Canvas' own export. Its importer
// wants the first two in front and Section last.
var CanvasColumns = []string{"Student", "ID", "SIS User ID", "SIS Login ID", "Section"}

// checkCanvas refuses a column of Canvas's that several exercises would have, or that is not
// for points: Canvas takes the first one of a name. Lines are those of the exercises.
func (r *policyReader) checkCanvas(lines map[string]int) {
	whose := map[string]string{}
	for _, one := range r.Exercises {
		column := cmp.Or(one.Canvas, one.Exercise)
		switch other := whose[column]; {
		case slices.Contains(CanvasColumns, one.Canvas):
			r.Add(r.Name, lines[one.Exercise], "canvas: Canvas has a column %q of its own: give exercise %s another", column, one.Exercise)
		case other != "":
			r.Add(r.Name, lines[one.Exercise], "canvas: exercises %s and %s both have the column %q: give each its own", other, one.Exercise, column)
		}
		whose[column] = one.Exercise
	}
}

func (r *policyReader) readExtensions(n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return fmt.Errorf("want a list, not %s", document.Show(n))
	}
	for _, entry := range n.Content {
		var e Extension
		has := r.Mapping("extensions: ", entry, e.fields(r.Zone))
		for _, required := range []string{"student", "due"} {
			if has != nil && has[required] == 0 {
				r.Add(r.Name, entry.Line, "extensions: field %q is missing", required)
			}
		}
		if e.Exercise != "" && !slices.Contains(r.names, e.Exercise) {
			r.Add(r.Name, entry.Line, "extensions: there is no exercise %q", e.Exercise)
		}
		r.Extensions = append(r.Extensions, e)
	}
	return nil
}

func (e *Extension) fields(zone *time.Location) document.Fields {
	return document.Fields{"student": document.Line(&e.Student), "exercise": document.Line(&e.Exercise), "due": moment(&e.Due, zone)}
}

// moments are the layouts of a time, in the course's zone or with a zone of its own.
var moments = []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339}

// ParseMoment reads a time, in zone if it states none. It refuses a date alone, which
// leaves open whether the day itself is included.
func ParseMoment(s string, zone *time.Location) (time.Time, error) {
	for _, layout := range moments {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("want a time such as 2026-12-01 23:59 or 2026-12-01T23:59:00+01:00, not %q", s)
}

func moment(p *time.Time, zone *time.Location) func(*yaml.Node) error {
	return func(n *yaml.Node) (err error) {
		if n.Kind != yaml.ScalarNode {
			return fmt.Errorf("want a time, not %s", document.Show(n))
		}
		*p, err = ParseMoment(n.Value, zone)
		return err
	}
}

func zone(p **time.Location) func(*yaml.Node) error {
	return document.Scalar("!!str", "a time zone such as Europe/Berlin", func(s string) error {
		z, err := time.LoadLocation(s)
		if err != nil || s == "" || s == "Local" { // Local differs from machine to machine
			return document.ErrUnfit
		}
		*p = z
		return nil
	})
}

// beside sets the name of a file in the policy's folder or below it.
func beside(p *string) func(*yaml.Node) error {
	return document.Scalar("!!str", "the name of a file beside "+PolicyFile, func(s string) error {
		if s == "" || !filepath.IsLocal(filepath.FromSlash(s)) {
			return document.ErrUnfit
		}
		*p = s
		return nil
	})
}

func percent(p *float64) func(*yaml.Node) error {
	return within(p, 100, "a percentage from 0 to 100")
}

func atLeastZero(p *float64) func(*yaml.Node) error {
	return within(p, 1e6, "a number from 0 on")
}

func within(p *float64, most float64, want string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if err := document.Number(p)(n); err != nil || *p < 0 || *p > most {
			return fmt.Errorf("want %s, not %s", want, document.Show(n))
		}
		return nil
	}
}

func positive(p *int) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if err := document.Whole(p)(n); err != nil || *p < 1 {
			return fmt.Errorf("want a whole number from 1 on, not %s", document.Show(n))
		}
		return nil
	}
}

func pattern(p *Pattern) func(*yaml.Node) error {
	return func(n *yaml.Node) (err error) {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
			return errors.New("want a pattern such as students/{student}/{exercise}, not " + document.Show(n))
		}
		*p, err = ParsePattern(n.Value)
		return err
	}
}
