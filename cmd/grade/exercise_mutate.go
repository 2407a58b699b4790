package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"grade/exercises"
	"grade/grader/prove"
	"grade/grader/report/terminal"
)

// wantKilled is the share of mutants that hidden tests are expected to kill.
const wantKilled = 0.95

type mutateOptions struct {
	app      *app
	exercise string
	json     bool
	quiet    bool
	sandbox  sandboxOptions
}

func newExerciseMutate(a *app) *cobra.Command {
	o := &mutateOptions{app: a}
	cmd := &cobra.Command{
		Use:   "mutate EXERCISE",
		Short: "Grade small mistakes in the reference: which go unnoticed?",
		Long: fmt.Sprintf(`Make mutants of the reference, each with one small mistake, and grade them. One
that keeps all points is shown as a survivor: the hidden tests miss it, the README
does not say what they would need, or nobody could tell it from the original.
Those of the last kind are listed in the exercise's equivalent.yaml, as id and why.

The score is killed / (all - equivalent). Below %.0f %% the exit status is 1.`, 100*wantKilled),
		Example: `  grade exercise mutate autograd
  grade exercise mutate autograd --json > mutants.json`,
		Args:              anExercise(a, 0),
		ValidArgsFunction: completeExercise(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.exercise = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "write the result as JSON")
	cmd.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "no progress")
	cmd.Flags().StringVar(&o.sandbox.Kind, "sandbox", "", "grade in a docker container or in a child process: `KIND` is "+strings.Join(sandboxKinds, " or "))
	_ = cmd.RegisterFlagCompletionFunc("sandbox", cobra.FixedCompletions(sandboxKinds, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *mutateOptions) run(ctx context.Context) error {
	if err := checkSandbox(o.sandbox); err != nil {
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
	write := o.text
	if o.json {
		write = func(m *prove.Mutation) error {
			e := json.NewEncoder(o.app.out)
			e.SetIndent("", "  ")
			return e.Encode(m)
		}
	}
	if err := write(m); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	if err := errors.Join(m.Faults...); err != nil {
		return err
	}
	if m.Score < wantKilled {
		return errPointsMissing
	}
	return nil
}

func (o *mutateOptions) mutate(ctx context.Context, e *exercises.Exercise, marks []exercises.Equivalent) (*prove.Mutation, error) {
	with := prove.MutationOptions{Equivalent: marks, Workers: runtime.NumCPU()}
	if o.app.err.live && !o.quiet {
		p := newProgress(o.app.err, o.app.now)
		stop := p.start()
		defer stop()
		with.Progress, o.sandbox.Progress = p.beside, p.beside
	}
	g, done, err := openGrader(ctx, o.sandbox)
	if err != nil {
		return nil, err
	}
	m, err := prove.Mutate(ctx, g, e, with)
	o.app.closed(done())
	return m, err
}

// text shows what survived, and then the figures.
func (o *mutateOptions) text(m *prove.Mutation) error {
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
	return o.app.print("%s: %d mutants, %d killed, %d survived, %d equivalent: %.1f %% of %d, in %.0f s\n",
		m.Exercise, m.Total, m.Killed, len(m.Survivors), m.Equivalent, 100*m.Score, m.Total-m.Equivalent, m.Seconds)
}
