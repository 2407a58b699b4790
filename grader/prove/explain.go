package prove

import (
	"slices"
	"strings"
	"unicode/utf8"

	"grade/grader"
	"grade/grader/judge"
	"grade/grader/verdict"
)

// Explanation is a failed check with everything that its exercise's author may see and a
// student may not: both values of what differs, and what the program wrote. Who has the
// hidden tests and the reference can run both, and learns nothing new. No result holds it.
type Explanation struct {
	Submission string          `json:"submission"`
	Check      string          `json:"check"`
	Seed       string          `json:"seed"` // which repeats it
	Verdict    verdict.Verdict `json:"verdict"`
	Differs    []string        `json:"differs"` // with the values observed and wanted
	Stdout     string          `json:"stdout"`  // of the submission's run
	Stderr     string          `json:"stderr"`
}

// maxOutput is how much of each output an explanation keeps, from the end, where a stack is
// followed by little.
const maxOutput = 8 << 10 // bytes

// Explanations collects the failed checks of one grading: its Hear is for
// [grader.Options.Judged].
type Explanations struct{ runs []grader.Run }

// Hear keeps the first run of each check and seed that is not passed.
func (x *Explanations) Hear(run grader.Run) {
	known := func(r grader.Run) bool { return r.Check.Name == run.Check.Name && r.Seed == run.Seed }
	if run.Verdict != verdict.Passed && !slices.ContainsFunc(x.runs, known) {
		x.runs = append(x.runs, run)
	}
}

// run returns a run of a check that is not passed: that of a seed, or the first if the seed
// is empty.
func (x *Explanations) run(check, seed string) (grader.Run, bool) {
	i := slices.IndexFunc(x.runs, func(r grader.Run) bool { return r.Check.Name == check && (seed == "" || r.Seed == seed) })
	if i < 0 {
		return grader.Run{}, false
	}
	return x.runs[i], true
}

// Of explains the failed checks of a result.
func (x *Explanations) Of(submission string, r *verdict.Result) (list []Explanation) {
	for _, c := range r.Checks {
		run, ok := x.run(c.Name, r.Seed)
		if !ok || c.Verdict == verdict.Passed {
			continue
		}
		list = append(list, Explanation{
			Submission: submission, Check: c.Name, Seed: run.Seed, Verdict: c.Verdict,
			Differs: append([]string{}, judge.Explain(run.Check, run.Reference, run.Submission)...),
			Stdout:  tail(run.Submission.Stdout), Stderr: tail(run.Submission.Stderr),
		})
	}
	return list
}

// tail returns the end of an output as text, from the start of a line if it is cut.
func tail(output []byte) string {
	cut := max(0, len(output)-maxOutput)
	text := strings.ToValidUTF8(string(output[cut:]), string(utf8.RuneError))
	if cut > 0 {
		_, text, _ = strings.Cut(text, "\n")
		text = "...\n" + text
	}
	return text
}
