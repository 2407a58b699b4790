package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/exercises/course/versions"
	"grade/grader"
	"grade/grader/prove"
	"grade/grader/report/summary"
)

type checkOptions struct {
	app         *app
	grading     gradingFlags
	names       []string
	submissions []string
	changed     string
	seeds       int
	calibrate   bool
	quick       bool
	explain     bool
	asked       func(name string) bool // what below exercises/ is looked at beside the exercises
	shared      []prove.Finding        // there
	env         func(string) string
}

func newExerciseCheck(a *app) *cobra.Command {
	o := &checkOptions{app: a, env: os.Getenv}
	cmd := &cobra.Command{
		Use:   "check [EXERCISE...]",
		Short: "Find everything that is wrong with exercises",
		Long: `Read exercises and grade all that is shipped with them: the reference must keep
its points on several inputs, the starter must compile and be no solution, every
submission must get the verdict it declares, from the check it declares. Limits
must keep a distance from what they let pass and from what they stop; README,
starter and reference must agree. Each finding says file, line and what to do.

Without a name all exercises of the course are checked, and with them the file that
orders them and folders that look like exercises and are none. The exit status is 1 if
anything was found. A check that is interrupted, or that a fault of the sandbox ends,
shows what it found until then.`,
		Example: `  grade exercise check
  grade exercise check gradclip --seeds 100
  grade exercise check gradclip --submission 'wrong_answer/nan-*' --explain
  grade exercise check --changed origin/main   # only what was touched since
  grade exercise check cosine --calibrate      # which limits would separate best`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return a.completeNames() },
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.changed, "changed", "", "check only exercises that differ from the git `REVISION`; all, if go.mod or the kit does")
	f.StringSliceVar(&o.submissions, "submission", nil, "grade only `SUBMISSIONS` whose CLASS/WHY fits one of these patterns, and\ndo not check how far limits are from what passes and what fails")
	f.IntVar(&o.seeds, "seeds", 3, "on how many inputs the reference must keep its points; with 2 or more,\ncheck also finds answers of the reference that are written in the hidden tests")
	f.BoolVar(&o.quick, "quick", false, "measure nothing, and leave out submissions whose expected result needs\na benchmark")
	f.BoolVar(&o.explain, "explain", false, "show of what is not as declared the values observed and wanted, output and stack")
	f.BoolVar(&o.calibrate, "calibrate", false, "propose limits, from what was measured")
	o.grading.add(cmd, cpuWorkers())
	for _, flag := range []string{"changed", "seeds", "submission"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
	return cmd
}

func (o *checkOptions) run(ctx context.Context) error {
	if err := o.checkFlags(); err != nil {
		return err
	}
	course, err := o.app.course()
	if err != nil {
		return err
	}
	if err := o.choose(ctx, course); err != nil {
		return err
	}
	o.shared = prove.Shared(course, o.asked)
	begun, told, err := o.begin(ctx, course)
	if err != nil {
		return err
	}
	reports, ended := o.gradeAll(ctx, begun)
	shown := o.shown()
	shown.Told = told
	if err := o.write(reports, shown.Text); err != nil {
		return err
	}
	if ended == nil && o.found(reports) {
		return errPointsMissing
	}
	return ended
}

// checkFlags refuses flags that would leave out, without a word, what they ask for. As
// [submitOptions.checkExplain] does, it refuses to explain where students may read the log.
func (o *checkOptions) checkFlags() error {
	if err := o.grading.check(); err != nil {
		return err
	}
	switch {
	case o.app.courseDir == "":
		return usage("run it in a course's folder, or give one: --course DIR", "check: the built-in course comes without the submissions to check it with")
	case o.seeds < 1:
		return usage("", "--seeds %d: want 1 or more", o.seeds)
	case o.calibrate && o.quick:
		return usage("leave out one of them", "--calibrate proposes limits from what is measured, and --quick measures nothing")
	case o.calibrate && o.submissions != nil:
		return usage("leave out one of them", "--calibrate proposes limits from all submissions, and --submission grades some")
	case o.explain && o.env("CI") != "":
		return explainInCI()
	}
	return nil
}

// choose selects the exercises to check, and what beside them.
func (o *checkOptions) choose(ctx context.Context, course *course.Course) (err error) {
	all := len(o.names) == 0
	o.asked = func(string) bool { return all }
	if o.names, err = namesIn(course, o.names); err != nil || o.changed == "" {
		return err
	}
	touched, every, err := versions.ChangedSince(ctx, o.app.courseDir, o.changed)
	if err != nil {
		return fmt.Errorf("--changed %s: %w", o.changed, err)
	}
	if every {
		return nil
	}
	o.names = slices.DeleteFunc(slices.Clone(o.names), func(name string) bool { return !touched[name] })
	o.asked = func(name string) bool { return all && touched[name] }
	return nil
}

// begin reads all exercises, and tells at once what that has found: an author does not wait
// minutes for a typo. It returns the findings that are told.
func (o *checkOptions) begin(ctx context.Context, course *course.Course) (begun []*prove.Checking, told map[prove.Finding]bool, err error) {
	told = map[prove.Finding]bool{}
	var reports []*prove.Report
	var fit []string
	for _, name := range o.names {
		c := prove.Read(ctx, course, name)
		begun, reports = append(begun, c), append(reports, c.Report())
		if o.submissions == nil {
			continue
		}
		some, err := c.Choose(o.submissions)
		if err != nil {
			return nil, nil, usage("", "--submission: %v", err)
		}
		fit = append(fit, some...)
	}
	if err := o.unfit(reports, fit); err != nil {
		return nil, nil, err
	}
	if o.grading.json {
		return begun, told, nil
	}
	err = o.app.print("%s%s", o.shown().Beside(o.shared), o.shown().Findings(reports))
	for _, r := range reports {
		for _, f := range r.Findings {
			told[f] = true
		}
	}
	return begun, told, err
}

// unfit tells of patterns that fit no submission's name. Where reading has found a fault, that
// may be why the one that was meant cannot be read, and the others are graded; without a fault
// it is the pattern that is wrong.
func (o *checkOptions) unfit(reports []*prove.Report, fit []string) error {
	wrong := slices.DeleteFunc(slices.Clone(o.submissions), func(pattern string) bool { return slices.Contains(fit, pattern) })
	pattern := strings.Join(wrong, ",")
	switch {
	case len(wrong) == 0 || len(reports) == 0:
		return nil
	case !slices.ContainsFunc(reports, hasFindings):
		return usage("grade exercise submission list EXERCISE lists them", "--submission %s: no submission's name fits", pattern)
	case len(fit) > 0:
		o.app.note("--submission %s: no submission that can be read has a name that fits", pattern)
		return nil
	}
	o.app.note("--submission %s: no submission that can be read has a name that fits, so that nothing was graded", pattern)
	text := func(reports []*prove.Report) string {
		return o.shown().Beside(o.shared) + o.shown().Findings(reports)
	}
	return errors.Join(o.write(reports, text), errPointsMissing)
}

// found reports whether anything was found.
func (o *checkOptions) found(reports []*prove.Report) bool {
	return len(o.shared) > 0 || slices.ContainsFunc(reports, hasFindings)
}

func hasFindings(r *prove.Report) bool { return len(r.Findings) > 0 }

// write prints the reports as JSON or as text.
func (o *checkOptions) write(reports []*prove.Report, text func([]*prove.Report) string) error {
	result := struct {
		Exercises []*prove.Report `json:"exercises"`
		Findings  []prove.Finding `json:"findings"` // beside the exercises
	}{reports, append([]prove.Finding{}, o.shared...)}
	return o.app.write(o.grading.json, result, func() string { return text(reports) })
}

func (o *checkOptions) shown() summary.Check {
	return summary.Check{Root: o.app.courseDir, Calibrate: o.calibrate, Palette: o.app.out.Palette()}
}

// gradeAll grades what is shipped with the exercises that can be loaded. An error ended the
// gradings; the reports have what is known without the others.
func (o *checkOptions) gradeAll(ctx context.Context, begun []*prove.Checking) ([]*prove.Report, error) {
	reports := []*prove.Report{}
	for _, c := range begun {
		reports = append(reports, c.Report())
	}
	if !slices.ContainsFunc(begun, (*prove.Checking).Gradable) {
		return reports, nil
	}
	err := o.app.grade(ctx, o.grading, func(g *grader.Grader, tell prove.Progress) error {
		with := prove.CheckOptions{Quick: o.quick, Explain: o.explain, Seeds: o.seeds, Workers: o.grading.workers, Progress: tell}
		for _, c := range begun {
			if _, err := c.Grade(ctx, g, with); err != nil {
				return err
			}
		}
		return nil
	})
	return reports, err
}

// namesIn returns the exercises of these names; without names, all of the course.
func namesIn(course *course.Course, names []string) ([]string, error) {
	all, err := course.Names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, noExercise(name, all)
		}
	}
	if len(names) == 0 {
		return all, nil
	}
	return names, nil
}
