package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/prove"
	"grade/grader/report/terminal"
)

// wantKilled is the share of mutants that hidden tests are expected to kill.
const wantKilled = 0.95

type mutateOptions struct {
	proving
	exercise string
}

func newExerciseMutate(a *app) *cobra.Command {
	o := &mutateOptions{proving: proving{app: a}}
	cmd := &cobra.Command{
		Use:   "mutate EXERCISE",
		Short: "Grade small mistakes in the reference: which go unnoticed?",
		Long: fmt.Sprintf(`Make mutants of the reference, each with one small mistake, and grade them. One
that keeps all points is shown as a survivor: the hidden tests miss it, the README
does not say what they would need, or nobody could tell it from the original.
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
	o.addFlags(cmd)
	return cmd
}

func (o *mutateOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
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
	if err := o.write(m, func() error { return o.text(m) }); err != nil {
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
	err = o.grade(ctx, func(g *grader.Grader, progress prove.Progress) error {
		m, err = prove.Mutate(ctx, g, e, mutants, prove.MutationOptions{Equivalent: marks, Workers: o.workers, Progress: progress})
		return err
	})
	return m, err
}

// text shows what survived, and then the figures.
func (o *mutateOptions) text(m *prove.Mutation) error {
	for _, f := range m.Faults {
		f.File = filepath.Join(o.app.courseDir, filepath.FromSlash(f.File))
		if err := o.app.print("%s\n", terminal.Escape(f.String())); err != nil {
			return err
		}
	}
	pal := o.app.out.palette()
	for _, s := range m.Survivors {
		if err := o.app.print("%s  %s:%d\n", pal.Bold(terminal.Escape(s.ID)), filepath.Join(o.app.courseDir, "reference", m.Exercise, s.File), s.Line); err != nil {
			return err
		}
		for l := range strings.Lines(s.Diff) {
			if err := o.app.print("    %s\n", terminal.Escape(strings.ReplaceAll(strings.TrimRight(l, "\n"), "\t", "    "))); err != nil {
				return err
			}
		}
	}
	if m.Total == 0 && len(m.Faults) > 0 {
		return nil // nothing was graded
	}
	return o.app.print("%s: %d mutants, %d killed%s, %d survived, %d equivalent: %.1f %% of %d, in %.0f s\n",
		m.Exercise, m.Total, m.Killed, byTime(m.TimedOut), len(m.Survivors), m.Equivalent, 100*m.Score, m.Total-m.Equivalent, m.Seconds)
}

// byTime says of how many it is not sure that a test tells them from the original.
func byTime(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d by time alone)", n)
}
