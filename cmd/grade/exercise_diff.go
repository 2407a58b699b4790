package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/exercises/course/versions"
	"grade/grader"
	"grade/grader/intake"
	"grade/grader/prove"
	"grade/grader/report/summary"
	"grade/grader/submission"
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

The submissions are those in --submissions: where the course's grade.yaml says that
they are, as grade batch finds them, and else a folder for each student, in which they
may lie in one for each exercise. They are graded in Docker, unless --sandbox says
otherwise. Without it, those that are shipped with NEW are taken.
The exit status is 1 if any score differs, 2 if there was no submission to grade, and 3 if
one could not be graded.`,
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
	f.StringVar(&o.submissions, "submissions", "", "grade what students handed in, below `DIR`")
	f.StringSliceVar(&o.only, "only", nil, "run the checks of these `KINDS` only: "+strings.Join(kindNames(), ", "))
	f.StringVar(&o.seed, "seed", "", "grade all on the inputs of this `SEED`, 64 hexadecimal digits")
	o.grading.add(cmd, cpuWorkers())
	_ = cmd.MarkFlagDirname("submissions")
	_ = cmd.RegisterFlagCompletionFunc("only", cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("seed", cobra.NoFileCompletions)
	return cmd
}

func (o *diffOptions) run(ctx context.Context) error {
	if o.submissions != "" { // others wrote them: nothing but the caller takes them out of an engine
		o.grading.sandbox.Kind = cmp.Or(o.grading.sandbox.Kind, sandboxDocker)
	}
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
	before, after := pair.Old.Exercise, pair.New.Exercise
	if err := checkOnly(o.only, after.Name, slices.Concat(before.Checks, after.Checks)); err != nil {
		return err
	}
	list, err := o.stored(ctx, pair.New)
	if err != nil {
		return err
	}
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
	switch {
	case slices.ContainsFunc(d.Changes, (*prove.Change).Scores):
		return errPointsMissing
	case d.Submissions == 0 && d.OldHash != d.NewHash: // "0 with fewer points" would read as leave to publish
		return usage(hintLayout, "no submission was graded, so that nothing is known of the change")
	}
	return nil
}

// stored returns the submissions to grade.
func (o *diffOptions) stored(ctx context.Context, in versions.Version) (list []prove.Stored, err error) {
	if o.submissions == "" {
		list, err = prove.StoredBy(in.Dir, in.Exercise.Name)
	} else {
		list, err = o.handedIn(ctx, in.Exercise.Name)
	}
	return list, withHint(hintLayout, err)
}

const hintLayout = "give one that holds a folder for each student, students/{student} or students/{student}/{exercise}, or is where grade.yaml says: --submissions DIR"

// handedIn returns what students have handed in for an exercise: where grade.yaml says that
// submissions are, and else wherever there are Go files, as grade batch finds them. Folders
// without any are returned as well, to tell why they are left out.
func (o *diffOptions) handedIn(ctx context.Context, exercise string) ([]prove.Stored, error) {
	rules, err := o.app.policy("")
	if err != nil {
		return nil, err
	}
	if rules.Submissions.String() != "" {
		list, err := o.found(ctx, rules.Submissions, rules.Exercises, exercise)
		if err != nil || len(list) > 0 {
			return storedOf(ctx, list), err
		}
	}
	list, err := o.found(ctx, course.Pattern{}, rules.Exercises, exercise)
	if err != nil {
		return nil, err
	}
	folders, err := prove.StoredIn(o.submissions)
	if len(list) > 0 {
		err = nil // archives alone are no folders, and submissions
	}
	folders = slices.DeleteFunc(folders, func(f prove.Stored) bool { return holdsAny(filepath.Join(o.submissions, f.Name), list) })
	return slices.Concat(storedOf(ctx, list), folders), err
}

// found looks for submissions to one of the exercises. One that does not say to which it
// belongs is taken for that one's, whose package it has to have.
func (o *diffOptions) found(ctx context.Context, at course.Pattern, exercises []string, exercise string) ([]intake.Submission, error) {
	if !slices.Contains(exercises, exercise) {
		exercises = append(slices.Clone(exercises), exercise)
	}
	list, _, err := intake.FindAll(ctx, []string{o.submissions}, intake.Search{Pattern: at, Exercises: exercises})
	return slices.DeleteFunc(list, func(s intake.Submission) bool {
		_, itself := intake.Below(s.Path, o.submissions) // one submission is no class
		return itself || s.Exercise != "" && s.Exercise != exercise
	}), err
}

func storedOf(ctx context.Context, found []intake.Submission) (list []prove.Stored) {
	for _, s := range found {
		take := func() (*submission.Snapshot, error) { return submission.Take(s.Path) }
		switch {
		case s.Read != nil:
			take = func() (*submission.Snapshot, error) { return s.Read(ctx) }
		case s.Archive: // and not a folder that stands there by now
			take = func() (*submission.Snapshot, error) { return submission.TakeArchive(s.Path) }
		}
		list = append(list, prove.Stored{Name: s.Student, Take: take})
	}
	return list
}

func holdsAny(dir string, list []intake.Submission) bool {
	return slices.ContainsFunc(list, func(s intake.Submission) bool { _, in := intake.Below(dir, s.Path); return in })
}
