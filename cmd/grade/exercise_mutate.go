package main

import (
	"context"
	"fmt"
	"runtime"

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
mark fits no mutant, which is told before anything is graded.`, 100*wantKilled),
		Example: `  grade exercise mutate autograd
  grade exercise mutate autograd --json > mutants.json`,
		Args:              anExercise(a, 0),
		ValidArgsFunction: completeExercise(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.exercise = args[0]
			return o.run(cmd.Context())
		},
	}
	o.grading.add(cmd, runtime.NumCPU())
	return cmd
}

func (o *mutateOptions) run(ctx context.Context) error {
	if err := o.grading.check(); err != nil {
		return err
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
	m, err := o.mutate(ctx, e, marks)
	if err != nil {
		return err
	}
	if err := o.app.write(o.grading.json, m, func() string { return summary.Mutation(m, o.app.courseDir, o.app.out.Palette()) }); err != nil {
		return err
	}
	if len(m.Faults) > 0 || m.Score < wantKilled {
		return errPointsMissing
	}
	return nil
}

func (o *mutateOptions) mutate(ctx context.Context, e *course.Exercise, marks []course.Equivalent) (m *prove.Mutation, err error) {
	mutants, faults, err := prove.Mutants(ctx, e, marks)
	if err != nil || len(faults) > 0 {
		return &prove.Mutation{Exercise: e.Name, Survivors: []prove.Survivor{}, Faults: faults}, err
	}
	err = o.app.grade(ctx, o.grading, func(g *grader.Grader, tell prove.Progress) error {
		m, err = prove.Mutate(ctx, g, e, mutants, prove.MutationOptions{Equivalent: marks, Workers: o.grading.workers, Progress: tell})
		return err
	})
	return m, err
}
