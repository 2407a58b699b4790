package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"grade/grader/batch"
	"grade/grader/report/summary"
	"grade/grader/results"
	"grade/grader/results/file"
)

type gradebookOptions struct {
	app        *app
	results    string
	policyFile string
	reports    reportFlags
}

func newGradebook(a *app) *cobra.Command {
	o := &gradebookOptions{app: a}
	cmd := &cobra.Command{
		Use:     "gradebook",
		Short:   "Show all students' points, out of kept results",
		GroupID: groupInstructors,
		Long: `Show the results that grade batch keeps, as they count under the rules of the course:
one row a student, one column an exercise. Nothing is graded, and no engine is needed.`,
		Example: `  grade gradebook --results grades
  grade gradebook --results grades --report canvas=canvas.csv --report html=course.html
  grade gradebook --results grades --report html=pages/{student}/{exercise}.html`,
		Args:              aCommand,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return o.run() },
	}
	resultsFlag(cmd, &o.results, "the folder `DIR` in which grade batch keeps results")
	policyFlag(cmd, &o.policyFile)
	o.reports.add(cmd)
	cmd.AddCommand(newForget(a))
	return cmd
}

func (o *gradebookOptions) run() error {
	if err := o.reports.check(); err != nil {
		return err
	}
	policy, err := o.app.policy(o.policyFile)
	if err != nil {
		return err
	}
	store, err := file.Read(o.results)
	if err != nil {
		return err
	}
	waiting, err := withoutVerdict(store)
	if err != nil {
		return err
	}
	book := batch.Book(policy, store.Attempts(), waiting, nil)
	for _, c := range book.Columns {
		if !slices.Contains(policy.Exercises, c.Exercise) {
			o.app.note("the course has no exercise %s, so its results do not count; if they are from another course, give that: --course DIR", c.Exercise)
		}
	}
	if n := len(store.Pending()); n > 0 {
		what := "1 submission"
		if n > 1 {
			what = fmt.Sprintf("%d submissions", n)
		}
		o.app.note("%s without a verdict (an older grade still counts): start grade batch again, or the job; if a submission was taken away: grade gradebook forget STUDENT EXERCISE%s", what, o.sameResults())
	}
	o.app.warn(o.reports.warnings(policy, book))
	if err := o.reports.targets.WriteCourse(o.app.out, book); err != nil || o.reports.targets.ReplacesText() {
		return err
	}
	return o.app.print("%s", summary.Book(book))
}

// sameResults is what a command that is suggested has to say to use the same results.
func (o *gradebookOptions) sameResults() string {
	if o.results == standardResults {
		return ""
	}
	return " --results " + shellWord(o.results)
}

// withoutVerdict lists what has no verdict, also of unknown exercises.
func withoutVerdict(store *file.Store) ([]results.Pending, error) {
	strays, err := store.Strays()
	return append(store.Pending(), strays...), err
}
