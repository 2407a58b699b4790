package main

import (
	"fmt"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"grade/exercises/course/fixture"
	"grade/grader/report/terminal"
)

type submissionEditOptions struct {
	submissionNamed
	base string
}

func newSubmissionEdit(a *app) *cobra.Command {
	o := &submissionEditOptions{submissionNamed: submissionNamed{app: a}}
	cmd := &cobra.Command{
		Use:   "edit EXERCISE NAME",
		Short: "Lay a submission out in a folder, to change it",
		Long: `Lay all files of a submission out in a folder below .submissions/, which git ignores,
with its expect.yaml, and say where. Change them there, try them with "grade submit", and
store them with "grade exercise submission save".

NAME is the class and the reason, such as wrong_answer/squares. One that is not there yet
begins as a copy of --base, with an expect.yaml to fill in. BASE is the name of an
accepted submission, reference or starter; given with a submission that is there, it is
what that will be stored as edits of.

Work that is not saved is not overwritten.`,
		Example: `  grade exercise submission edit autograd wrong_answer/sub-swapped
  grade exercise submission edit autograd wrong_answer/no-chain-rule --base accepted/closures`,
		RunE: func(*cobra.Command, []string) error { return o.hinted(o.run()) },
	}
	cmd.Flags().StringVar(&o.base, "base", "", "begin as `BASE`, and be stored as edits of it")
	_ = cmd.RegisterFlagCompletionFunc("base", o.completeBase)
	return o.arguments(cmd)
}

func (o *submissionEditOptions) run() error {
	w, err := o.app.workspace(o.exercise)
	if err != nil {
		return err
	}
	laid, err := w.Edit(o.name, o.base)
	if err != nil {
		return err
	}
	for _, name := range laid.Files {
		file := filepath.Join(o.app.courseDir, filepath.FromSlash(path.Join(laid.Dir, name)))
		if err := o.app.print("%s\n", terminal.Escape(file)); err != nil {
			return err
		}
	}
	what := "change it"
	if laid.New {
		what = "make its mistake, fill in expect.yaml"
	}
	_, err = fmt.Fprintf(o.app.err, "next: %s, and run: grade exercise submission save %s %s%s\n", what, o.exercise, o.name, o.app.sameCourse())
	return err
}

func (o *submissionEditOptions) completeBase(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	names := []string{fixture.BaseReference, fixture.BaseStarter}
	if len(args) == 0 {
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	w, err := o.app.workspace(args[0])
	if err != nil {
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	list, _ := w.Submissions()
	for _, s := range list {
		if s.Class == fixture.Accepted {
			names = append(names, cobra.CompletionWithDesc(s.Name, terminal.Escape(s.Expect.Why)))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
