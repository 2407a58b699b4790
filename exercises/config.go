package exercises

import (
	"go/token"
	"regexp"

	"gopkg.in/yaml.v3"
)

// config is what an exercise.yaml says, with the lines it says it at.
type config struct {
	*Exercise // the fields it fills
	checks    []checkConfig
	line      map[string]int // of the fields at the top, as document.mapping returns them
}

// checkConfig is an entry of checks as it stands.
type checkConfig struct {
	test, benchmark string
	kind            Kind
	points          int
	limit           float64
	selfReported    bool
	feedback        Feedback
	anchor          string
	line            int
	has             map[string]int // lines of its fields, as document.mapping returns them
}

func (c checkConfig) function() string { return c.test + c.benchmark }

// readConfig fills e from an exercise.yaml.
func readConfig(data []byte, e *Exercise, p *problems) config {
	cfg := config{Exercise: e}
	e.Feedback, e.Limits = FeedbackHint, DefaultLimits()
	d := document{p, configFile}
	cfg.line = d.read(data, cfg.fields(d))
	if cfg.line == nil {
		return cfg // no fields at all: told already
	}
	for _, required := range []string{"title", "summary", "package", "checks"} {
		if cfg.line[required] == 0 {
			d.add(configFile, 0, "field %q is missing", required)
		}
	}
	cfg.checkWords(d)
	return cfg
}

// fields are the fields at the top. Their meaning stands in schema/exercise.json.
func (cfg *config) fields(d document) fields {
	e := cfg.Exercise
	return fields{
		"title":    line(&e.Title),
		"summary":  line(&e.Summary),
		"package":  line(&e.Package),
		"imports":  list(&e.Imports),
		"provided": list(&e.Provided),
		"feedback": oneOf(&e.Feedback, FeedbackHint, FeedbackClass, FeedbackValues),
		"limits":   func(n *yaml.Node) error { d.mapping("limits: ", n, e.Limits.fields()); return nil },
		"checks":   func(n *yaml.Node) error { cfg.checks = d.checks(n); return nil },
	}
}

var importGrammar = regexp.MustCompile(`^[a-z0-9]+(/[a-z0-9]+)*(:[A-Za-z0-9_.*]+)?$`)

func (cfg config) checkWords(d document) {
	if p := cfg.Package; p != "" && (!token.IsIdentifier(p) || p == "_" || p == "main") {
		d.add(d.file, cfg.line["package"], "package: %q is no name for a package to import", p)
		cfg.Package = "" // the clauses of all files would differ from it
	}
	for _, i := range cfg.Imports {
		if !importGrammar.MatchString(i) {
			d.add(d.file, cfg.line["imports"], "imports: %q is no package of the standard library", i)
		}
	}
}

func (l *Limits) fields() fields {
	return fields{
		"memory":  size(&l.Memory),
		"output":  size(&l.Output),
		"scratch": size(&l.Scratch),
		"cpu":     duration(&l.CPU),
		"wall":    duration(&l.Wall),
	}
}

func (c *checkConfig) fields() fields {
	return fields{
		"test":          line(&c.test),
		"benchmark":     line(&c.benchmark),
		"kind":          oneOf(&c.kind, Correctness, Memory, Speed),
		"points":        whole(&c.points),
		"limit":         number(&c.limit),
		"self_reported": truth(&c.selfReported),
		"feedback":      oneOf(&c.feedback, FeedbackHint, FeedbackClass, FeedbackValues),
		"anchor":        anchor(&c.anchor),
	}
}

var anchorGrammar = regexp.MustCompile(`^[^\s#A-Z]+$`)

// anchor sets the name by which a heading is linked to, as in README.md#rules.
func anchor(p *string) func(*yaml.Node) error {
	return scalar("!!str", "the anchor of a heading, such as empty-lists", func(s string) error {
		if !anchorGrammar.MatchString(s) {
			return errUnfit
		}
		*p = s
		return nil
	})
}

func (d document) checks(n *yaml.Node) []checkConfig {
	if n.Kind != yaml.SequenceNode {
		d.add(d.file, n.Line, "checks: want a list, not %s", show(n))
		return nil
	}
	if len(n.Content) == 0 {
		d.add(d.file, n.Line, "checks: the list is empty")
	}
	checks := make([]checkConfig, len(n.Content))
	for i, entry := range n.Content {
		c := &checks[i]
		c.line = entry.Line
		c.has = d.mapping("checks: ", entry, c.fields())
	}
	return checks
}
