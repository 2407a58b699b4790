package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"grade/grader/results/file"
)

type forgetOptions struct {
	app               *app
	student, exercise string
	results           string
}

func newForget(a *app) *cobra.Command {
	o := &forgetOptions{app: a}
	cmd := &cobra.Command{
		Use:   "forget STUDENT EXERCISE",
		Short: "Forget a submission without a verdict that was taken away",
		Long: `Forget that a student has a submission without a verdict. Such a submission keeps the
student without a total until the next grade batch has graded it; of one that was taken
away, there will never be a verdict. No result is changed: an older grade counts again,
and without one the student has handed in nothing. A submission that is still there is
found again by the next grade batch.`,
		Example: `  grade gradebook forget ada mean --results grades`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("see: "+cmd.CommandPath()+" --help", "forget: want a student and an exercise")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			o.student, o.exercise = args[0], args[1]
			return o.run()
		},
	}
	resultsFlag(cmd, &o.results, "the folder `DIR` in which grade batch keeps results")
	return cmd
}

func (o *forgetOptions) run() (err error) {
	if _, err := file.Read(o.results); err != nil {
		return err // and begin no new one
	}
	store, err := file.Open(o.results)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	n, err := store.Forget(o.student, o.exercise)
	if err != nil {
		return err
	}
	if n == 0 {
		return usage(waiting(store), "no submission of %s for %s is without a verdict", o.student, o.exercise)
	}
	return o.app.print("forgotten: the submission of %s for %s, which had no verdict\n", o.student, o.exercise)
}

// waiting lists what there is to forget.
func waiting(store *file.Store) string {
	var names []string
	for _, p := range store.Pending() {
		names = append(names, p.Student+" "+p.Exercise)
	}
	if len(names) == 0 {
		return "every submission has a verdict"
	}
	if more := len(names) - maxWarnings; more > 0 {
		names = append(names[:maxWarnings], "…")
	}
	return "without a verdict are: " + strings.Join(names, ", ")
}
