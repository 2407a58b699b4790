package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grade/exercises/course/versions"
	"grade/grader"
	"grade/grader/prove"
	"grade/grader/report/summary"
)

type diffOptions struct {
	app         *app
	grading     gradingFlags
	old, new    string
	submissions string
	only        []string
	seed        string
}

func newExerciseDiff(a *app) *cobra.Command {
	o := &diffOptions{app: a}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show whose score a changed exercise changes, before it is published",
		Long: `Grade stored submissions under two versions of an exercise, on the same inputs,
and show whose score differs, and which checks made it differ.

OLD and NEW are each the folder of an exercise, in its course; or the name of one of
this course; or REVISION:NAME, as that course was in git.

The submissions are the folders in --submissions, one for each student; without it,
those that are shipped with NEW. The exit status is 1 if any score differs, and 3 if a
submission could not be graded.`,
		Example: `  grade exercise diff origin/main:autograd autograd --submissions ~/handed-in
  grade exercise diff ../published/exercises/autograd exercises/autograd
  grade exercise diff v1:autograd v2:autograd --only correctness --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("", "diff: want two versions of an exercise, OLD and NEW")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 1 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.old, o.new = args[0], args[1]
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.submissions, "submissions", "", "grade the folders in `DIR`, one for each student")
	f.StringSliceVar(&o.only, "only", nil, "run the checks of these `KINDS` only: "+strings.Join(kindNames(), ", "))
	f.StringVar(&o.seed, "seed", "", "grade all on the inputs of this `SEED`, 64 hexadecimal digits")
	o.grading.add(cmd, runtime.NumCPU())
	_ = cmd.MarkFlagDirname("submissions")
	_ = cmd.RegisterFlagCompletionFunc("only", cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("seed", cobra.NoFileCompletions)
	return cmd
}

func (o *diffOptions) run(ctx context.Context) error {
	if err := o.grading.check(); err != nil {
		return err
	}
	only, err := kinds(o.only)
	if err != nil {
		return err
	}
	pair, err := versions.Find(ctx, o.app.courseDir, o.old, o.new)
	defer func() { o.app.closed(pair.Close()) }()
	if err != nil {
		return err
	}
	list, err := o.stored(pair.New)
	if err != nil {
		return err
	}
	before, after := pair.Old.Exercise, pair.New.Exercise
	d := prove.NewDifference(before, after)
	if d.OldHash != d.NewHash {
		err = o.app.grade(ctx, o.grading, func(g *grader.Grader, tell prove.Progress) error {
			with := prove.DiffOptions{Seed: o.seed, Only: only, Workers: o.grading.workers, Progress: tell}
			d, err = prove.Diff(ctx, g, before, after, list, with)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := o.app.write(o.grading.json, d, func() string { return summary.Difference(d) }); err != nil {
		return err
	}
	return verdictOn(d)
}

// verdictOn returns the error for the exit status.
func verdictOn(d *prove.Difference) error {
	var errs []error
	for _, f := range d.Failed {
		errs = append(errs, &noVerdict{fmt.Errorf("%s: %s", f.Submission, f.Reason)})
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if slices.ContainsFunc(d.Changes, (*prove.Change).Scores) {
		return errPointsMissing
	}
	return nil
}

// stored returns the submissions to grade.
func (o *diffOptions) stored(in versions.Version) (list []prove.Stored, err error) {
	if o.submissions == "" {
		list, err = prove.StoredBy(in.Dir, in.Exercise.Name)
	} else {
		list, err = prove.StoredIn(o.submissions)
	}
	return list, withHint("give one that holds a folder for each student: --submissions DIR", err)
}
