package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/batch"
	"grade/grader/gradebook"
	"grade/grader/prove"
	"grade/grader/report/summary"
	"grade/grader/results/file"
)

type regradeOptions struct {
	app        *app
	grading    gradingFlags
	results    string
	policyFile string
	diff       bool
	apply      bool
}

func newRegrade(a *app) *cobra.Command {
	o := &regradeOptions{app: a}
	cmd := &cobra.Command{
		Use:     "regrade",
		Short:   "Show what a change of an exercise does to kept results, and let the new ones count",
		GroupID: groupInstructors,
		Long: `Grade every attempt in a folder of results anew whose exercise has changed since, or
grade, Go or the image, from the files that grade batch has kept, and with the inputs of
its old grading: whose result changes, by how much and by which check, and what of that
counts under the rules of the course.

No result that counts is changed. The new ones are kept beside them, so that --apply lets
them count without grading again: it adds a line for each attempt to the results.
An attempt that loses points for memory or speed is graded twice, and the better counts.

The exit status is 1 if a score differs and nothing was applied, and 3 if there is an
attempt that could not be graded: its result stays what it was.`,
		Example: `  grade regrade --results grades --diff
  grade regrade --results grades --apply
  grade regrade --results grades --course ../course --json > changes.json`,
		Args:              atMost(0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.grading.add(cmd, batchWorkers())
	resultsFlag(cmd, &o.results, "the folder `DIR` in which grade batch keeps results")
	policyFlag(cmd, &o.policyFile)
	cmd.Flags().BoolVar(&o.diff, "diff", false, "show what would change, and change nothing (the default)")
	cmd.Flags().BoolVar(&o.apply, "apply", false, "let the new results count")
	return cmd
}

func (o *regradeOptions) run(ctx context.Context) (err error) {
	if err := o.grading.checkFor("regrade"); err != nil {
		return err
	}
	if o.diff && o.apply {
		return usage("look first, and then apply", "--diff and --apply exclude each other")
	}
	all, err := o.app.allExercises()
	if err != nil {
		return err
	}
	policy, err := o.app.policy(o.policyFile)
	if err != nil {
		return err
	}
	if _, err := file.Read(o.results); err != nil {
		return err // and begin no new one
	}
	store, err := file.Open(o.results)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return o.regrade(ctx, store, policy, all)
}

func (o *regradeOptions) regrade(ctx context.Context, store *file.Store, policy *gradebook.Policy, all []*course.Exercise) (err error) {
	r, err := batch.NewRegrader(store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var with batch.Options
	var list []batch.Regraded
	err = o.app.grade(ctx, o.grading, func(g *grader.Grader, tell prove.Progress) error {
		if with, err = o.app.batchWith(ctx, o.grading, g, tell, all); err != nil {
			return err
		}
		list, err = r.Run(ctx, with)
		return err
	})
	if err != nil {
		return err
	}
	before := batch.Book(policy, store.Attempts(), store.Pending(), nil)
	after := batch.Book(policy, batch.Applied(store.Attempts(), list), store.Pending(), nil)
	if o.apply {
		if err := r.Apply(list, with); err != nil {
			return err
		}
	}
	return o.tell(summary.NewRegrading(list, summary.Differing(before, after), o.apply))
}

func (o *regradeOptions) tell(r summary.Regrading) error {
	if err := o.app.write(o.grading.json, r, func() string { return r.Text("--apply lets the new ones count") }); err != nil {
		return err
	}
	if len(r.Stay) > 0 {
		return &noVerdict{fmt.Errorf("%d of %d attempts; their results stand", len(r.Stay), r.Regraded+len(r.Stay))}
	}
	if !r.Applied && slices.ContainsFunc(r.Changes, (*prove.Change).Scores) {
		return errPointsMissing
	}
	return nil
}
