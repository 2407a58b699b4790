package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grade/grader/batch"
	"grade/grader/gradebook"
	"grade/grader/intake"
	"grade/grader/report/summary"
	"grade/grader/results/file"
)

type batchOptions struct {
	app        *app
	grading    gradingFlags
	reports    reportFlags
	paths      []string
	results    string
	policyFile string

	policy *gradebook.Policy
}

func newBatch(a *app) *cobra.Command {
	o := &batchOptions{app: a}
	cmd := &cobra.Command{
		Use:     "batch PATH...",
		Short:   "Grade many submissions, and keep the results",
		GroupID: groupInstructors,
		Long: `Grade all submissions below each PATH: folders with Go files and archives (.zip,
.tar, .tar.gz), as in students/<student>/<exercise>. If the last folder has the name
of an exercise, that is the exercise, and else the package decides; the folders above
it name the student, as seen from PATH or, of several, from the folder that holds
them all: what lies below one student is that student's. Where a grade.yaml says where
submissions are, as seen from the current folder or else from PATH, those are taken
and nothing else.

Results are kept in DIR/` + file.ResultsFile + `, a line each; no line is ever removed. A submission
is graded again only if it, its exercise, grade, Go or the image has changed, and the
output shows each result that differs. To see the differences before they count, use
grade regrade. A submission without a verdict has no line: run the command again to grade it.

It needs a Docker engine, because students' programs run nowhere else. The exit status is 3
if a submission has no verdict by no fault of its student, and else 0, whatever the scores.`,
		Example: `  grade batch students
  grade batch students/alice students/bob --results /srv/grades
  grade batch students --json > all.json
  grade batch students --report html=course.html --report csv=gradebook.csv
  grade batch students --report html=pages/{student}/{exercise}.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("", "batch: which folders or archives of submissions?")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.paths = args
			return o.run(cmd.Context())
		},
	}
	o.grading.add(cmd, batchWorkers())
	resultsFlag(cmd, &o.results, "keep results in the folder `DIR`")
	policyFlag(cmd, &o.policyFile)
	o.reports.add(cmd)
	return cmd
}

// sparing is how much grade's own memory may grow before garbage is collected, in percent. A
// class of thousands is kept in memory, and grade takes some hundredths of the CPU time of a
// batch: memory that lies fallow is what the boxes could use.
const sparing = 15

func (o *batchOptions) run(ctx context.Context) (err error) {
	debug.SetGCPercent(sparing)
	if err := checkMany("batch", &o.grading, &o.reports); err != nil {
		return err
	}
	all, err := o.app.allExercises()
	if err != nil {
		return err
	}
	if o.policy, err = o.app.policy(o.policyFile); err != nil {
		return err
	}
	list, err := o.find(ctx)
	if err != nil {
		return err
	}
	store, err := file.Open(o.results)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	intake.SpellAs(list, studentsIn(store))
	items, err := o.app.gradeAll(ctx, o.grading, store, list, all, o.policy)
	if items == nil && err != nil {
		return errors.Join(err, batch.KeepPending(store, batch.Ungraded(ctx, list, all, err), o.app.now()))
	}
	return errors.Join(err, o.keepStrays(store, items), o.tell(store, items))
}

// keepStrays keeps what has no known exercise: its students are to be in the gradebook.
func (o *batchOptions) keepStrays(store *file.Store, items []batch.Item) error {
	return store.KeepStrays(batch.Strays(items, o.app.now()), batch.Seen(items))
}

// find finds the submissions, and their times of submission.
func (o *batchOptions) find(ctx context.Context) ([]intake.Submission, error) {
	list, notes, err := intake.FindAll(ctx, o.paths, intake.Search{Pattern: o.policy.Submissions, Exercises: o.policy.Exercises, Roots: o.roots()})
	for _, line := range notes[:min(len(notes), maxWarnings)] {
		o.app.note("%s", line)
	}
	if n := len(notes) - maxWarnings; n > 0 {
		o.app.note("… and %d more are left out", n)
	}
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, o.kept)
	if len(list) == 0 {
		hint := "give a folder that holds folders with Go files, or archives"
		if where := o.policy.Submissions.String(); where != "" {
			hint = "the rules of the course have them in " + where + ": run grade in the folder from which that is seen"
		}
		return nil, usage(hint, "no submission in %s", strings.Join(o.paths, ", "))
	}
	when, err := intake.NewDates(ctx, ".")
	if err != nil {
		return nil, withHint("mend the repository, or run grade outside of it: dates of files count there", err)
	}
	for i, s := range list {
		if err := o.known(ctx, when, s); err != nil {
			return nil, err
		}
		list[i].Submitted = func(ctx context.Context) (time.Time, string, error) { return when.Of(ctx, s.Path) }
	}
	return list, nil
}

// known refuses a submission whose date a shallow clone does not have: a wrong one would stay.
// What the table of times has needs none.
func (o *batchOptions) known(ctx context.Context, when *intake.Dates, s intake.Submission) error {
	err := when.Known(ctx, s.Path)
	if err != nil && o.policy.Listed.Mentions(s.Student, s.Exercise) {
		return nil
	}
	return err
}

// kept reports whether a submission is a copy that lies with the results, which may be below
// a path: it was handed in elsewhere.
func (o *batchOptions) kept(s intake.Submission) bool {
	_, in := intake.Below(intake.Resolved(file.SubmissionsIn(o.results)), intake.Resolved(s.Path))
	return in
}

// roots returns the folders that students' names were seen from in earlier runs.
func (o *batchOptions) roots() (roots []string) {
	store, err := file.Read(o.results)
	if err != nil {
		return nil // there are none, or it is told when they are opened
	}
	for _, r := range store.Attempts() {
		if root := intake.RootOf(r.Path, r.Student, r.Exercise, r.Folder); root != "" && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	return roots
}

// tell prints each item, and in the last line the numbers of each kind.
func (o *batchOptions) tell(store *file.Store, items []batch.Item) error {
	waiting, err := withoutVerdict(store)
	if err != nil {
		return err
	}
	book := batch.Book(o.policy, store.Attempts(), waiting, items)
	o.app.warn(o.reports.warnings(o.policy, book))
	err = o.reports.targets.WriteCourse(o.app.out, book)
	sum := summary.NewBatch(items)
	if !o.reports.targets.ReplacesText() {
		err = errors.Join(err, o.app.write(o.grading.json, sum, func() string { return sum.Text(items) }))
	}
	if ours := batch.Ours(items); err == nil && ours > 0 {
		err = o.app.atFault(&noVerdict{fmt.Errorf("%d of %d submissions; run the same command again to grade them", ours, len(items))}, items)
	}
	return err
}
