package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/prove"
	"grade/grader/report/summary"
)

// wantKilled is the share of mutants that hidden tests are expected to kill.
const wantKilled = 0.97

type mutateOptions struct {
	app      *app
	grading  gradingFlags
	exercise string
	only     []string
	sample   int
}

func newExerciseMutate(a *app) *cobra.Command {
	o := &mutateOptions{app: a}
	cmd := &cobra.Command{
		Use:   "mutate EXERCISE",
		Short: "Grade small mistakes in the reference: which go unnoticed?",
		Long: fmt.Sprintf(`Make mutants of the reference, each with one small mistake, and grade them. One
that keeps all points is shown as a survivor: the hidden tests miss it, the README
does not say what they would need, or no test can tell it from the original.
Those of the last kind are listed in the exercise's equivalent.yaml, as id and why.

A test of a mutant may take ten times as long as the longest of the reference, and a
second: some loop for ever. How many were killed by that alone is told, for one of
them may be merely slow.

The score is killed / (all - equivalent). Below %.0f %% the exit status is 1, and where a
mark fits no mutant, which is told before anything is graded. A run that is
interrupted shows what was graded until then.`, 100*wantKilled),
		Example: `  grade exercise mutate autograd
  grade exercise mutate autograd --sample 100     # a first look
  grade exercise mutate autograd --only 'ops.go:*'  # after a test was mended
  grade exercise mutate autograd --json > mutants.json`,
		Args:              anExercise(a, 0),
		ValidArgsFunction: completeExercise(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.exercise = args[0]
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.only, "only", nil, "only mutants whose id fits one of these `PATTERNS`")
	f.IntVar(&o.sample, "sample", 0, "only so many mutants, spread over all, and the same ones each time (0: all)")
	o.grading.add(cmd, cpuWorkers())
	for _, flag := range []string{"only", "sample"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
	return cmd
}

func (o *mutateOptions) run(ctx context.Context) error {
	if err := o.grading.check(); err != nil {
		return err
	}
	if o.sample < 0 {
		return usage("", "--sample %d: want 1 or more, or 0 for all", o.sample)
	}
	e, err := o.app.exercise(o.exercise)
	if err != nil {
		return err
	}
	course, err := o.app.course()
	if err != nil {
		return err
	}
	marks, err := course.Equivalents(o.exercise)
	if err != nil {
		return err
	}
	m, interrupted := o.mutate(ctx, e, marks)
	if m == nil {
		return interrupted
	}
	if err := o.app.write(o.grading.json, m, func() string { return summary.Mutation(m, o.app.courseDir, o.app.out.Palette()) }); err != nil {
		return err
	}
	if interrupted != nil {
		return interrupted
	}
	return o.judge(m)
}

// judge returns the error for the exit status, and says why too few mutants are one.
func (o *mutateOptions) judge(m *prove.Mutation) error {
	few := m.Total > 0 && m.Score < wantKilled // of none, nothing was graded
	if few {
		o.app.note("%s: the hidden tests kill %.1f %% of the mutants; want at least %.0f %%: add a test for each survivor, or list it in equivalent.yaml",
			m.Exercise, 100*m.Score, 100*wantKilled)
	}
	if few || len(m.Faults) > 0 {
		return errPointsMissing
	}
	return nil
}

// mutate grades the chosen mutants. Where it is interrupted, it returns both a result and
// an error.
func (o *mutateOptions) mutate(ctx context.Context, e *course.Exercise, marks []course.Equivalent) (m *prove.Mutation, err error) {
	mutants, faults, err := prove.Mutants(ctx, e, marks)
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return &prove.Mutation{Exercise: e.Name, Survivors: []prove.Survivor{}, Faults: faults}, nil
	}
	chosen, err := prove.Choose(mutants, o.only)
	if err != nil {
		return nil, usage("grade exercise mutate lists the ids of survivors, such as "+mutants[0].ID, "--only %s: %v", strings.Join(o.only, ","), err)
	}
	chosen = prove.Spread(chosen, o.sample)
	err = o.app.grade(ctx, o.grading, func(g *grader.Grader, tell prove.Progress) error {
		m, err = prove.Mutate(ctx, g, e, chosen, prove.MutationOptions{Equivalent: marks, Workers: o.grading.workers, Progress: tell})
		if m != nil {
			m.LeftOut += len(mutants) - len(chosen)
		}
		return err
	})
	return m, err
}
