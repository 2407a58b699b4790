package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"grade/exercises/course/fixture"
	"grade/exercises/course/fixture/edits"
	"grade/exercises/course/fixture/workspace"
	"grade/grader/report/terminal"
)

// newExerciseSubmission groups the commands for the submissions of an exercise.
func newExerciseSubmission(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "submission",
		Short: "Write and change the submissions that an exercise is tested with",
		Long: `Commands for the submissions that are shipped with an exercise. A wrong one is
mostly stored as the lines in which it differs from a right one: expect.yaml says which
(base), and change.edits the lines. These commands lay the whole package out in a folder
where it can be changed and graded, and store what has become of it.`,
		Example: `  grade exercise submission edit gradclip wrong_answer/squares --base accepted/one-pass
  grade exercise submission save gradclip wrong_answer/squares
  grade exercise submission show gradclip wrong_answer/squares --diff
  grade exercise submission refresh gradclip   # after its bases have changed`,
		Args:              aCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	for _, sub := range []*cobra.Command{newSubmissionEdit(a), newSubmissionSave(a), newSubmissionShow(a), newSubmissionList(a), newSubmissionRefresh(a)} {
		cmd.AddCommand(inCourse(a, sub))
	}
	return cmd
}

// submissionNamed holds the arguments of a command about one submission.
type submissionNamed struct {
	app            *app
	exercise, name string
}

// arguments makes a command accept an exercise and the name of a submission.
func (s *submissionNamed) arguments(cmd *cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) != 2 {
			return usage("as in: "+cmd.CommandPath()+" gradclip wrong_answer/squares", "%s: want an exercise and the name of a submission", cmd.Name())
		}
		s.exercise, s.name = args[0], strings.TrimSuffix(args[1], "/")
		return nil
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return s.app.completeNames()
		}
		return s.app.completeSubmissions(args)
	}
	return cmd
}

// completeSubmissions offers the submissions of the named exercise, with their faults.
func (a *app) completeSubmissions(args []string) (offers []string, _ cobra.ShellCompDirective) {
	w, err := a.workspace(args[0])
	if err != nil || len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, _ := w.Submissions()
	for _, s := range list {
		offers = append(offers, cobra.CompletionWithDesc(s.Name, terminal.Escape(s.Expect.Why)))
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// workspace opens the workspace of an exercise.
func (a *app) workspace(exercise string) (*workspace.Workspace, error) {
	if a.courseDir == "" {
		return nil, usage("run it in a course's folder, or give one: --course DIR", "the built-in course comes without the submissions that its exercises are tested with")
	}
	if _, err := a.exercise(exercise); err != nil {
		return nil, err
	}
	return workspace.Open(a.courseDir, exercise)
}

// hinted adds a hint to an error of a workspace. It leaves other errors, which are faults
// of the exercise or of the disk, as they are.
func (s *submissionNamed) hinted(err error) error {
	at := " " + s.exercise + " " + s.name
	const group = "grade exercise submission "
	for _, known := range []struct {
		is   error
		hint string
	}{
		{workspace.ErrName, "the classes are: " + classNames()},
		{fixture.ErrBase, ""},
		{workspace.ErrWhole, "leave --base out"},
		{workspace.ErrUnsaved, "save it: " + group + "save" + at + "; or remove the folder"},
		{workspace.ErrClosed, "begin with: " + group + "edit" + at},
		{workspace.ErrMarkers, "leave what is right between the markers, remove them, and save again"},
		{workspace.ErrExpect, "mend it, and save again; docs/exercise-yaml.md says what an expect.yaml holds"},
		{edits.ErrSame, "change what makes it a submission of its own, and save again"},
		{workspace.ErrNoBase, "say what it begins as, or was made of: " + group + "edit" + at + " --base BASE, such as reference"},
		{workspace.ErrNone, "see: " + group + "list " + s.exercise},
	} {
		if errors.Is(err, known.is) {
			return usage(known.hint, "%s", err)
		}
	}
	if errors.Is(err, workspace.ErrUnknown) {
		return &driftedError{err, "if its base has changed: " + group + "refresh " + s.exercise}
	}
	return err
}

// driftedError is a fault of an exercise that a command can mend.
type driftedError struct {
	error
	hint string
}

func (e *driftedError) Unwrap() error { return e.error }
func (e *driftedError) Hint() string  { return e.hint }

func classNames() string {
	var names []string
	for _, c := range fixture.Classes {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// countOf returns "1 line" or "2 lines".
func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
