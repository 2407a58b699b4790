package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"grade/grader"
	"grade/grader/prove"
	"grade/grader/report/summary"
)

type seedsOptions struct {
	app         *app
	grading     gradingFlags
	names       []string
	submissions []string
	seeds       int
	measure     bool
}

func newExerciseSeeds(a *app) *cobra.Command {
	o := &seedsOptions{app: a}
	cmd := &cobra.Command{
		Use:   "seeds [EXERCISE...]",
		Short: "Find submissions whose verdicts are a matter of luck",
		Long: `Grade the submissions that are shipped with exercises on the inputs of several
seeds, and list those that fail other checks with one seed than with another: a
student who hands in the same twice must not get two grades. A submission that
cannot be steady says why, in its expect.yaml (varies).

Each check is shown with a seed on which it fails; grade submit --seed repeats it.
The exit status is 1 if a submission without a reason is unsteady.`,
		Example: `  grade exercise seeds trainer
  grade exercise seeds trainer --submission wrong_answer/mean-of-means --seeds 100
  grade exercise seeds cosine --measure        # the benchmarks too, which takes long`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return a.completeNames() },
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.seeds, "seeds", 20, "on the inputs of how many seeds each is graded")
	f.StringSliceVar(&o.submissions, "submission", nil, "only `SUBMISSIONS` whose CLASS/WHY fits one of these patterns")
	f.BoolVar(&o.measure, "measure", false, "run the benchmarks as well, in a grading for each seed")
	o.grading.add(cmd, 2)
	for _, flag := range []string{"seeds", "submission"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
	return cmd
}

func (o *seedsOptions) run(ctx context.Context) error {
	if err := o.grading.check(); err != nil {
		return err
	}
	if o.seeds < 2 {
		return usage("", "--seeds %d: want 2 or more, which can be compared", o.seeds)
	}
	if o.app.courseDir == "" {
		return usage("run it in a course's folder, or give one: --course DIR", "seeds: the built-in course comes without the submissions to grade")
	}
	course, err := o.app.course()
	if err != nil {
		return err
	}
	if o.names, err = namesIn(course, o.names); err != nil {
		return err
	}
	chosen, err := prove.ChooseSeeded(course, o.names, o.submissions)
	if err != nil {
		return err
	}
	reports, err := o.gradeAll(ctx, chosen)
	if err != nil {
		return err
	}
	result := struct {
		Exercises []*prove.SeedReport `json:"exercises"`
	}{reports}
	if err := o.app.write(o.grading.json, result, func() string { return summary.Seeds(reports) }); err != nil {
		return err
	}
	unexplained := func(u prove.Unsteady) bool { return u.Reason == "" }
	if slices.ContainsFunc(reports, func(r *prove.SeedReport) bool { return slices.ContainsFunc(r.Unsteady, unexplained) }) {
		return errPointsMissing
	}
	return nil
}

func (o *seedsOptions) gradeAll(ctx context.Context, chosen []prove.Seeded) (reports []*prove.SeedReport, err error) {
	err = o.app.grade(ctx, o.grading, func(g *grader.Grader, tell prove.Progress) error {
		with := prove.SeedOptions{Seeds: o.seeds, Measure: o.measure, Workers: o.grading.workers, Progress: tell}
		for _, one := range chosen {
			r, err := prove.Seeds(ctx, g, one, with)
			if err != nil {
				return err
			}
			reports = append(reports, r)
		}
		return nil
	})
	return reports, err
}
