package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"grade/exercises/course/fixture"
	"grade/grader/report/terminal"
)

func newSubmissionList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list EXERCISE",
		Short: "List the submissions of an exercise, and how each is stored",
		Long: `List the submissions that an exercise is tested with: the name, the base it is edits of
or "whole", the lines of its edits, and what it does wrong. Columns are separated by tabs.`,
		Example:           `  grade exercise submission list autograd`,
		Args:              anExercise(a, 0),
		ValidArgsFunction: completeExercise(a),
		RunE:              func(_ *cobra.Command, args []string) error { return listSubmissions(a, args[0]) },
	}
}

// listSubmissions lists the submissions that can be read, and then the faults of the
// others.
func listSubmissions(a *app, exercise string) error {
	w, err := a.workspace(exercise)
	if err != nil {
		return err
	}
	list, faults := w.Submissions()
	for _, s := range list {
		if err := a.print("%s\t%s\t%s\n", s.Name, storedAs(s), terminal.Escape(s.Expect.Why)); err != nil {
			return err
		}
	}
	return faults
}

func storedAs(s fixture.Submission) string {
	if s.Edits == nil {
		return "whole\t"
	}
	return fmt.Sprintf("%s\t%d", s.Expect.Base, bytes.Count(s.Edits, []byte("\n")))
}
