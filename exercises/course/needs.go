package course

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"grade/exercises/course/document"
	"grade/grader/verdict"
)

// Need is a hidden test whose rule another check rests on.
type Need struct {
	Check string // the hidden test
	// Observations are names of observations that the needing check records and that rest
	// on what Check tests; one that ends with * stands for all names that begin so. Where
	// Check fails, they do not count in the needing check. Without any, all of them count,
	// and Check only explains why the needing check failed too.
	Observations []string
}

// Excuses reports whether an observation of that name does not count where n.Check fails.
func (n Need) Excuses(name string) bool {
	return slices.ContainsFunc(n.Observations, func(pattern string) bool { return MatchesObservation(pattern, name) })
}

// MatchesObservation reports whether a pattern of [Need.Observations] stands for a name.
func MatchesObservation(pattern, name string) bool {
	prefix, any := strings.CutSuffix(pattern, "*")
	return name == pattern || any && strings.HasPrefix(name, prefix)
}

// needConfig is a need as exercise.yaml has it.
type needConfig struct {
	Need
	line int
}

var errNeeds = errors.New("want a list of tests, or tests each with a list of observations")

// needs sets the tests that a check needs: a list of names, or a mapping of names to
// observations.
func needs(p *[]needConfig) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		names, step := n.Content, 1
		switch n.Kind {
		case yaml.SequenceNode:
		case yaml.MappingNode:
			step = 2
		default:
			return fmt.Errorf("%w, not %s", errNeeds, document.Show(n))
		}
		if len(names) == 0 {
			return fmt.Errorf("%w, not an empty one", errNeeds)
		}
		for i := 0; i < len(names); i += step {
			one := needConfig{line: names[i].Line}
			if err := document.Line(&one.Check)(names[i]); err != nil {
				return err
			}
			if step == 2 {
				if err := observations(&one.Observations)(names[i+1]); err != nil {
					return fmt.Errorf("%s: %w", one.Check, err)
				}
			}
			*p = append(*p, one)
		}
		return nil
	}
}

// observations sets the names of observations.
func observations(p *[]string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if err := document.List(p)(n); err != nil {
			return err
		}
		for _, pattern := range *p {
			if prefix := strings.TrimSuffix(pattern, "*"); prefix == "" || strings.Contains(prefix, "*") {
				return fmt.Errorf("want names of observations with at most one *, at their end, not %q", pattern)
			}
		}
		return nil
	}
}

// checkNeeds compares the needs of all checks with the checks that there are.
func (cfg config) checkNeeds(p *document.Faults) {
	for _, c := range cfg.checks {
		if c.has == nil || c.function() == "" {
			continue // reported already
		}
		for i, n := range c.needs {
			if fault := cfg.needFault(c, i); fault != "" {
				p.Add(configFile, n.line, "%s: needs: %s", c.function(), fault)
			}
		}
	}
	cfg.checkCycles(p)
}

// needFault says what is wrong with one need of a check.
func (cfg config) needFault(c checkConfig, i int) string {
	n := c.needs[i]
	twice := slices.ContainsFunc(c.needs[:i], func(m needConfig) bool { return m.Check == n.Check })
	at := slices.IndexFunc(cfg.Exercise.Checks, func(known Check) bool { return known.Name == n.Check })
	switch {
	case twice:
		return n.Check + " appears twice"
	case at < 0:
		return fmt.Sprintf("there is no check %q", n.Check)
	case cfg.Exercise.Checks[at].Kind != verdict.Correctness:
		return n.Check + " is measured; a check can need hidden tests only"
	case c.benchmark != "" && len(n.Observations) > 0:
		return "what a benchmark records is compared in full; want a list of tests without observations"
	}
	return ""
}

// checkCycles reports each test that needs itself, if only by way of others, once.
func (cfg config) checkCycles(p *document.Faults) {
	told := map[string]bool{}
	for _, c := range cfg.Exercise.Checks {
		way := cfg.wayBack(c.Name, c.Name, map[string]bool{})
		if way == nil || told[c.Name] {
			continue
		}
		for _, name := range way {
			told[name] = true
		}
		p.Add(configFile, c.Line, "%s: needs: a test cannot need itself: %s needs %s", c.Name, c.Name, strings.Join(way, ", which needs "))
	}
}

// wayBack returns the tests from one to the other along their needs, without the first;
// nil if none leads there.
func (cfg config) wayBack(from, to string, seen map[string]bool) []string {
	if seen[from] {
		return nil
	}
	seen[from] = true
	i := slices.IndexFunc(cfg.Exercise.Checks, func(c Check) bool { return c.Name == from })
	if i < 0 {
		return nil
	}
	for _, n := range cfg.Exercise.Checks[i].Needs {
		if n.Check == to {
			return []string{to}
		}
		if way := cfg.wayBack(n.Check, to, seen); way != nil {
			return append([]string{n.Check}, way...)
		}
	}
	return nil
}
