package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader"
	"grade/grader/prove"
	"grade/grader/report/terminal"
	"grade/grader/submission"
)

type diffOptions struct {
	proving
	old, new    string
	submissions string
	only        []string
	seed        string
}

func newExerciseDiff(a *app) *cobra.Command {
	o := &diffOptions{proving: proving{app: a}}
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
	o.addFlags(cmd)
	_ = cmd.MarkFlagDirname("submissions")
	_ = cmd.RegisterFlagCompletionFunc("only", cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("seed", cobra.NoFileCompletions)
	return cmd
}

func (o *diffOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	only, err := kinds(o.only)
	if err != nil {
		return err
	}
	before, after, forget, err := o.editions(ctx)
	defer forget()
	if err != nil {
		return err
	}
	list, err := o.stored(after)
	if err != nil {
		return err
	}
	d := prove.NewDifference(before.exercise, after.exercise)
	if d.OldHash != d.NewHash {
		err = o.grade(ctx, func(g *grader.Grader, progress prove.Progress) error {
			with := prove.DiffOptions{Seed: o.seed, Only: only, Workers: o.workers, Progress: progress}
			d, err = prove.Diff(ctx, g, before.exercise, after.exercise, list, with)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := o.write(d, func() error { return o.text(d) }); err != nil {
		return err
	}
	return verdictOn(d)
}

// verdictOn is what the exit status says of a difference.
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

// stored are the submissions to grade.
func (o *diffOptions) stored(in edition) (list []prove.Stored, err error) {
	dir := o.submissions
	if dir == "" {
		dir = filepath.Join(in.dir, "exercises", in.exercise.Name, "submissions")
		list, err = shippedWith(in)
	} else {
		list, err = foldersIn(dir)
	}
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, usage("give one that holds a folder for each student: --submissions DIR", "%s: no folder with a submission", dir)
	}
	return list, nil
}

// shippedWith are the submissions that an edition ships, whatever it expects of them.
func shippedWith(in edition) (list []prove.Stored, err error) {
	shipped, err := fixture.LoadFiles(course.Open(os.DirFS(in.dir)), in.exercise.Name)
	if errors.Is(err, fs.ErrNotExist) && len(shipped) == 0 {
		return nil, nil
	}
	for _, s := range shipped {
		take := func() (*submission.Snapshot, error) { return prove.Snapshot(s.Dir, s.Files) }
		list = append(list, prove.Stored{Name: s.Name, Take: take})
	}
	return list, err
}

// foldersIn are the folders of a folder, by their names.
func foldersIn(dir string) (list []prove.Stored, err error) {
	root := os.DirFS(dir)
	names, err := fs.Glob(root, "*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if info, err := fs.Stat(root, name); err == nil && info.IsDir() && !strings.HasPrefix(name, ".") {
			take := func() (*submission.Snapshot, error) { return submission.Take(filepath.Join(dir, name)) }
			list = append(list, prove.Stored{Name: name, Take: take})
		}
	}
	return list, nil
}

// text is a table of whose score changes, and why; then the figures.
func (o *diffOptions) text(d *prove.Difference) error {
	changes := slices.DeleteFunc(slices.Clone(d.Changes), func(c *prove.Change) bool { return !c.Scores() })
	var b strings.Builder
	b.WriteString(changeTable(changes))
	for _, u := range d.Ungraded {
		fmt.Fprintf(&b, "%s: left out: %s\n", terminal.Start(u.Submission), terminal.Escape(u.Reason))
	}
	b.WriteString(summary(d))
	return o.app.print("%s", b.String())
}

func summary(d *prove.Difference) string {
	if d.OldHash == d.NewHash {
		return fmt.Sprintf("%s: the two differ in nothing that a grade depends on\n", d.Exercise)
	}
	lose, gain := 0, 0
	for _, c := range d.Changes {
		switch {
		case c.New.Score < c.Old.Score:
			lose++
		case c.New.Score > c.Old.Score:
			gain++
		}
	}
	s := fmt.Sprintf("%s: %d submissions: %d lose points, %d gain points, %d keep them", d.Exercise, d.Submissions, lose, gain, d.Submissions-lose-gain)
	if other := len(d.Changes) - lose - gain; other > 0 {
		s += fmt.Sprintf(" (%d for other reasons)", other)
	}
	if len(d.Failed) > 0 {
		s += fmt.Sprintf("; %d could not be graded", len(d.Failed))
	}
	return s + "\n"
}
