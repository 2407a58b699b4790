package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/exercises/course/versions"
	"grade/grader"
	"grade/grader/prove"
	"grade/grader/report/summary"
)

type checkOptions struct {
	app       *app
	grading   gradingFlags
	names     []string
	changed   string
	seeds     int
	calibrate bool
}

func newExerciseCheck(a *app) *cobra.Command {
	o := &checkOptions{app: a}
	cmd := &cobra.Command{
		Use:   "check [EXERCISE...]",
		Short: "Find everything that is wrong with exercises",
		Long: `Read exercises and grade all that is shipped with them: the reference must keep
its points on several inputs, the starter must compile and be no solution, every
submission must get the verdict it declares, from the check it declares. Limits
must keep a distance from what they let pass and from what they stop; README,
starter and reference must agree. Each finding says file, line and what to do.

Without a name all exercises of the course are checked. The exit status is 1 if
anything was found.`,
		Example: `  grade exercise check
  grade exercise check gradclip --seeds 100
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
	f.IntVar(&o.seeds, "seeds", 3, "on how many inputs the reference must keep its points; of 2 or more, one\nsees which of its answers stand in the hidden tests")
	f.BoolVar(&o.calibrate, "calibrate", false, "propose limits, from what was measured")
	o.grading.add(cmd, runtime.NumCPU())
	for _, flag := range []string{"changed", "seeds"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
	return cmd
}

func (o *checkOptions) run(ctx context.Context) error {
	if err := o.grading.check(); err != nil {
		return err
	}
	if o.app.courseDir == "" {
		return usage("run it in a course's folder, or give one: --course DIR", "check: the built-in course comes without the submissions to check it with")
	}
	course, err := o.app.course()
	if err != nil {
		return err
	}
	if err := o.choose(ctx, course); err != nil {
		return err
	}
	reports, err := o.gradeAll(ctx, course)
	if err != nil {
		return err
	}
	result := struct {
		Exercises []*prove.Report `json:"exercises"`
	}{reports}
	shown := summary.Check{Root: o.app.courseDir, Calibrate: o.calibrate, Palette: o.app.out.Palette()}
	if err := o.app.write(o.grading.json, result, func() string { return shown.Text(reports) }); err != nil {
		return err
	}
	if slices.ContainsFunc(reports, func(r *prove.Report) bool { return len(r.Findings) > 0 }) {
		return errPointsMissing
	}
	return nil
}

// choose selects the exercises to check.
func (o *checkOptions) choose(ctx context.Context, course *course.Course) error {
	all, err := course.Names()
	if err != nil {
		return err
	}
	for _, name := range o.names {
		if !slices.Contains(all, name) {
			return usage(thereAre(all), "there is no exercise %q", name)
		}
	}
	if len(o.names) == 0 {
		o.names = all
	}
	if o.changed == "" {
		return nil
	}
	touched, every, err := versions.ChangedSince(ctx, o.app.courseDir, o.changed)
	if err != nil {
		return fmt.Errorf("--changed %s: %w", o.changed, err)
	}
	if every {
		return nil
	}
	o.names = slices.DeleteFunc(slices.Clone(o.names), func(name string) bool { return !touched[name] })
	return nil
}

func (o *checkOptions) gradeAll(ctx context.Context, course *course.Course) ([]*prove.Report, error) {
	reports := []*prove.Report{}
	if len(o.names) == 0 {
		return reports, nil
	}
	err := o.app.grade(ctx, o.grading, func(g *grader.Grader, tell prove.Progress) error {
		with := prove.CheckOptions{Seeds: o.seeds, Workers: o.grading.workers, Progress: tell}
		for _, name := range o.names {
			r, err := prove.Check(ctx, g, course, name, with)
			if err != nil {
				return err
			}
			reports = append(reports, r)
		}
		return nil
	})
	return reports, err
}
