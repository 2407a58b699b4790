package exercises

import (
	"fmt"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"
)

// Expect is what must come of a submission.
type Expect struct {
	Why      string            // one line: what it does wrong, or what shape it has
	Verdict  string            // graded, invalid or compile_error
	Score    *int              // exactly; nil: any
	MaxScore *int              // at most; nil: any
	Checks   map[string]string // the verdict of some checks, by their name
	Rule     string            // of the vet; with the verdict invalid only
	Twin     string            // the Name of another submission, whose score it must not exceed

	lines map[string]int
}

// Line is where the expect.yaml says a field: one at the top, or a check's verdict as
// "checks/NAME"; 0 where it does not.
func (x Expect) Line(field string) int { return x.lines[field] }

// The verdicts that a submission and a check may be expected to get. They are
// the grader's words, which this package may not import.
var (
	submissionVerdicts = []string{"graded", "invalid", "compile_error"}
	checkVerdicts      = []string{"passed", "wrong_answer", "runtime_error", "time_limit", "memory_limit",
		"output_limit", "too_slow", "too_much_memory", "missing", "not_run"}
)

// readExpect reads an expect.yaml and holds it against the class of its folder
// and the checks of the exercise.
func readExpect(data []byte, class Class, checks []Check, d document) Expect {
	var x Expect
	before := len(d.list)
	verdicts := map[string]int{}
	lines := d.read(data, x.fields(d, checks, verdicts))
	if len(d.list) > before {
		return x // more faults would be about what could not be read
	}
	x.lines = maps.Clone(lines)
	for name, line := range verdicts {
		x.lines["checks/"+name] = line
	}
	for _, required := range []string{"why", "verdict"} {
		if lines[required] == 0 {
			d.add(d.file, 0, "field %q is missing", required)
		}
	}
	if x.Verdict == "" {
		return x
	}
	for _, fault := range slices.Concat(x.faults(), x.classFaults(class)) {
		d.add(d.file, lines["verdict"], "%s", fault)
	}
	return x
}

// fields are the fields at the top. Their meaning stands in schema/expect.json.
// Verdicts gets the lines of the checks'.
func (x *Expect) fields(d document, checks []Check, verdicts map[string]int) fields {
	return fields{
		"why":       line(&x.Why),
		"verdict":   oneOf(&x.Verdict, submissionVerdicts...),
		"score":     score(&x.Score),
		"max_score": score(&x.MaxScore),
		"checks":    func(n *yaml.Node) error { x.Checks = d.verdicts(n, checks, verdicts); return nil },
		"rule":      line(&x.Rule),
		"twin":      line(&x.Twin),
	}
}

func score(p **int) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		var s int
		if err := whole(&s)(n); err != nil {
			return err
		}
		if s < 0 || s > MaxScore {
			return fmt.Errorf("want 0 to %d, not %d", MaxScore, s)
		}
		*p = &s
		return nil
	}
}

// verdicts reads a mapping of checks to verdicts, and notes their lines.
func (d document) verdicts(n *yaml.Node, checks []Check, lines map[string]int) map[string]string {
	byName, f := map[string]string{}, fields{}
	for _, c := range checks {
		f[c.Name] = func(n *yaml.Node) error {
			var v string
			err := oneOf(&v, checkVerdicts...)(n)
			byName[c.Name] = v
			return err
		}
	}
	maps.Copy(lines, d.mapping("checks: ", n, f))
	return byName
}

// faults are fields that contradict each other.
func (x Expect) faults() (faults []string) {
	fault := func(is bool, what string) {
		if is {
			faults = append(faults, what)
		}
	}
	graded := x.Verdict == "graded"
	fault(!graded && len(x.Checks) > 0, "only what is graded has checks")
	fault(!graded && (x.Score != nil && *x.Score > 0 || x.MaxScore != nil && *x.MaxScore > 0), "only what is graded has a score")
	fault(x.Score != nil && x.MaxScore != nil, "score and max_score: one of them says it")
	fault(x.Verdict == "invalid" && x.Rule == "", "rule is missing: the one that refuses it")
	fault(x.Verdict != "invalid" && x.Rule != "", "rule: only what is invalid breaks one")
	return faults
}

// classFaults are fields that contradict the folder the submission is in.
func (x Expect) classFaults(class Class) (faults []string) {
	fault := func(is bool, what string) {
		if is {
			faults = append(faults, string(class)+": "+what)
		}
	}
	fault(x.Twin != "" && class != Forgery, "only a forgery has a twin")
	switch class {
	case Accepted:
		fault(x.Verdict != "graded" || x.Score == nil || *x.Score != MaxScore, fmt.Sprintf("want verdict: graded and score: %d", MaxScore))
	case Invalid, CompileError:
		fault(x.Verdict != string(class), "want verdict: "+string(class))
	case Forgery:
		bounded := x.Score != nil || x.MaxScore != nil || x.Twin != "" || x.Verdict != "graded"
		fault(!bounded, "want a score, a max_score or a twin")
	default:
		fault(x.Verdict != "graded", "want verdict: graded")
		fault(!x.hasCheck(string(class)), "want a check with the verdict "+string(class))
	}
	return faults
}

func (x Expect) hasCheck(verdict string) bool {
	for _, v := range x.Checks {
		if v == verdict {
			return true
		}
	}
	return false
}
