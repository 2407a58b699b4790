package course

import (
	"go/token"
	"regexp"

	"gopkg.in/yaml.v3"

	"grade/exercises/course/document"
	"grade/grader/verdict"
)

// config holds the content of exercise.yaml with its lines.
type config struct {
	*Exercise // receives the fields
	checks    []checkConfig
	line      map[string]int // of the fields at the top, as [document.File.Mapping] returns them
}

// checkConfig is an entry of checks as exercise.yaml has it.
type checkConfig struct {
	test, benchmark string
	race            []string
	hint            string
	kind            verdict.Kind
	points          int
	limit           float64
	selfReported    bool
	feedback        Feedback
	anchor          string
	needs           []needConfig
	line            int
	has             map[string]int // lines of its fields, as [document.File.Mapping] returns them
}

func (c checkConfig) function() string { return c.test + c.benchmark }

// readConfig fills e from an exercise.yaml.
func readConfig(data []byte, e *Exercise, p *document.Faults) config {
	cfg := config{Exercise: e}
	e.Begin, e.Feedback, e.Limits = BeginEmpty, FeedbackHint, defaultLimits()
	d := document.File{Faults: p, Name: configFile}
	cfg.line = d.Read(data, cfg.fields(d))
	if cfg.line == nil {
		return cfg // no fields at all, which is reported already
	}
	e.LimitsLine = max(0, cfg.line["limits"]) // below 0: it cannot be read, which is reported
	for _, required := range []string{"title", "summary", "package", "checks"} {
		if cfg.line[required] == 0 {
			d.Add(configFile, 0, "field %q is missing", required)
		}
	}
	cfg.checkWords(d)
	return cfg
}

// fields lists the fields at the top. schema/exercise.json documents them.
func (cfg *config) fields(d document.File) document.Fields {
	e := cfg.Exercise
	return document.Fields{
		"title":    document.Line(&e.Title),
		"summary":  document.Line(&e.Summary),
		"package":  document.Line(&e.Package),
		"imports":  document.List(&e.Imports),
		"provided": document.List(&e.Provided),
		"starter":  document.OneOf(&e.Begin, BeginEmpty, BeginRight),
		"feedback": document.OneOf(&e.Feedback, FeedbackHint, FeedbackClass, FeedbackValues),
		"limits":   func(n *yaml.Node) error { d.Mapping("limits: ", n, e.Limits.fields()); return nil },
		"checks":   func(n *yaml.Node) error { cfg.checks = checksOf(d, n); return nil },
	}
}

var importGrammar = regexp.MustCompile(`^[a-z0-9]+(/[a-z0-9]+)*(:[A-Za-z0-9_.*]+)?$`)

func (cfg config) checkWords(d document.File) {
	if p := cfg.Package; p != "" && (!token.IsIdentifier(p) || p == "_" || p == "main") {
		d.Add(d.Name, cfg.line["package"], "package: %q cannot be the name of an imported package", p)
		cfg.Package = "" // the clauses of all files would differ from it
	}
	for _, i := range cfg.Imports {
		if !importGrammar.MatchString(i) {
			d.Add(d.Name, cfg.line["imports"], "imports: %q is not a package of the standard library", i)
		}
	}
}

func (l *Limits) fields() document.Fields {
	return document.Fields{
		"memory":  document.Size(&l.Memory),
		"output":  document.Size(&l.Output),
		"scratch": document.Size(&l.Scratch),
		"cpu":     document.Duration(&l.CPU),
		"wall":    document.Duration(&l.Wall),
	}
}

func (c *checkConfig) fields() document.Fields {
	return document.Fields{
		"test":          document.Line(&c.test),
		"benchmark":     document.Line(&c.benchmark),
		"race":          document.List(&c.race),
		"hint":          document.Line(&c.hint),
		"kind":          document.OneOf(&c.kind, verdict.Correctness, verdict.Memory, verdict.Speed, verdict.Race),
		"points":        document.Whole(&c.points),
		"limit":         document.Number(&c.limit),
		"self_reported": document.Truth(&c.selfReported),
		"feedback":      document.OneOf(&c.feedback, FeedbackHint, FeedbackClass, FeedbackValues),
		"anchor":        anchor(&c.anchor),
		"needs":         needs(&c.needs),
	}
}

var anchorGrammar = regexp.MustCompile(`^[^\s#A-Z]+$`)

// anchor sets the anchor of a heading, as in README.md#rules.
func anchor(p *string) func(*yaml.Node) error {
	return document.Scalar("!!str", "the anchor of a heading, such as empty-lists", func(s string) error {
		if !anchorGrammar.MatchString(s) {
			return document.ErrUnfit
		}
		*p = s
		return nil
	})
}

func checksOf(d document.File, n *yaml.Node) []checkConfig {
	if n.Kind != yaml.SequenceNode {
		d.Add(d.Name, n.Line, "checks: want a list, not %s", document.Show(n))
		return nil
	}
	if len(n.Content) == 0 {
		d.Add(d.Name, n.Line, "checks: the list is empty")
	}
	checks := make([]checkConfig, len(n.Content))
	for i, entry := range n.Content {
		c := &checks[i]
		c.line = entry.Line
		c.has = d.Mapping("checks: ", entry, c.fields())
	}
	return checks
}
