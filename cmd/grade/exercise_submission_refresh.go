package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/exercises/course/fixture/workspace"
	"grade/exercises/course/versions"
	"grade/grader/report/terminal"
)

type submissionRefreshOptions struct {
	app            *app
	exercise, from string
}

func newSubmissionRefresh(a *app) *cobra.Command {
	o := &submissionRefreshOptions{app: a}
	cmd := &cobra.Command{
		Use:   "refresh EXERCISE",
		Short: "Move submissions to bases that have changed",
		Long: `Where edits no longer fit their base, merge them with what has changed in the base since
--from, a revision in which they did fit. All other submissions stay as they are.

Where both change the same lines the submission is laid out below .submissions/, with
both between markers, and the exit status is 1: leave what is right, and finish with
"grade exercise submission save".`,
		Example: `  grade exercise submission refresh autograd
  grade exercise submission refresh autograd --from origin/main`,
		Args:              anExercise(a, 0),
		ValidArgsFunction: completeExercise(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.exercise = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.from, "from", "HEAD", "the `REVISION` of git that has the bases as they were")
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.NoFileCompletions)
	return cmd
}

func (o *submissionRefreshOptions) run(ctx context.Context) error {
	w, err := o.app.workspace(o.exercise)
	if err != nil {
		return err
	}
	drifted, err := w.Drifted()
	if err != nil {
		return err
	}
	if len(drifted) == 0 {
		return o.app.print("%s: all edits can be made in their bases\n", o.exercise)
	}
	temp, err := os.MkdirTemp("", "grade-refresh-")
	if err != nil {
		return err
	}
	defer func() { o.app.closed(os.RemoveAll(temp)) }()
	old := filepath.Join(temp, "old")
	if err := versions.CheckOut(ctx, o.app.courseDir, o.from, o.exercise, old); err != nil {
		return err
	}
	done, err := w.Refresh(course.Open(course.Folder(old)))
	if err != nil {
		return fmt.Errorf("at %s: %w", o.from, err)
	}
	return o.tell(done)
}

// tell prints the outcome of each submission, and what is left to do.
func (o *submissionRefreshOptions) tell(done []workspace.Refreshed) error {
	merged, conflicts, failed := 0, 0, 0
	for _, r := range done {
		lines := []string{fmt.Sprintf("%s: merged, %s", r.Name, countOf(r.Lines, "line"))}
		switch {
		case r.Err != nil:
			failed++
			lines = []string{fmt.Sprintf("%s: left as it is: %v", r.Name, r.Err)}
		case len(r.Conflicts) > 0:
			conflicts++
			lines = r.Conflicts
		default:
			merged++
		}
		for _, l := range lines {
			if err := o.app.print("%s\n", terminal.Escape(l)); err != nil {
				return err
			}
		}
	}
	if err := o.app.print("%s: %d merged, %d with a conflict, %d left as they are\n", o.exercise, merged, conflicts, failed); err != nil {
		return err
	}
	return o.next(conflicts, failed)
}

func (o *submissionRefreshOptions) next(conflicts, failed int) error {
	if conflicts > 0 {
		fmt.Fprintf(o.app.err, "next: leave what is right between the markers, and run: grade exercise submission save %s NAME%s\n", o.exercise, o.app.sameCourse())
	}
	if failed > 0 {
		fmt.Fprintln(o.app.err, "hint: give the revision in which the edits could be made: --from REVISION")
	}
	if conflicts+failed > 0 {
		return errPointsMissing
	}
	return nil
}
