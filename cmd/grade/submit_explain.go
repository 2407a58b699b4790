package main

import (
	"grade/grader/prove"
	"grade/grader/report/summary"
	"grade/grader/verdict"
)

// checkExplain allows --explain to the author of a course only. Who has the course's folder
// has the hidden tests and the reference, and can run both: what is shown is nothing new.
// It goes to the terminal alone, because a log of CI and a stored result have other readers.
func (o *submitOptions) checkExplain() error {
	switch {
	case !o.explain:
		return nil
	case o.app.courseDir == "":
		return usage("give the folder of a course of your own: --course DIR", "--explain shows what hidden tests want, and is for those who have them")
	case o.env("CI") != "":
		return explainInCI()
	case o.json:
		return usage("leave out one of them", "--explain writes text, and --json a result, which holds none of it")
	}
	return nil
}

// explainInCI refuses --explain where students may read what it shows.
func explainInCI() error {
	return usage("run it on a machine of your own", "--explain shows what hidden tests want, and students may read the log of CI")
}

// tellExplained prints the explanations before the report, which ends with the score.
func (o *submitOptions) tellExplained(x *prove.Explanations, r *verdict.Result) error {
	if !o.explain {
		return nil
	}
	return o.app.print("%s", summary.Explanations(x.Of(o.dir, r)))
}
