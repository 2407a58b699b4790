package main

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"

	"grade/exercises/course/fixture"
	"grade/exercises/course/fixture/workspace"
	"grade/grader/report/terminal"
)

type submissionShowOptions struct {
	submissionNamed
	diff bool
}

func newSubmissionShow(a *app) *cobra.Command {
	o := &submissionShowOptions{submissionNamed: submissionNamed{app: a}}
	cmd := &cobra.Command{
		Use:   "show EXERCISE NAME",
		Short: "Show a submission as it is graded, or how it differs from its base",
		Long: `Write all files of a submission, whether it is stored whole or as edits, each below a
line with its name; or the difference from its base, with the lines around.`,
		Example: `  grade exercise submission show autograd wrong_answer/sub-swapped --diff`,
		RunE:    func(*cobra.Command, []string) error { return o.hinted(o.run()) },
	}
	cmd.Flags().BoolVar(&o.diff, "diff", false, "show what differs from the base")
	return o.arguments(cmd)
}

func (o *submissionShowOptions) run() error {
	w, err := o.app.workspace(o.exercise)
	if err != nil {
		return err
	}
	s, err := w.Find(o.name)
	if err != nil {
		return err
	}
	if !o.diff {
		return o.whole(s)
	}
	base, err := w.Base(s)
	if err != nil {
		return err
	}
	return o.text(workspace.Diff(base, s.Files), o.app.out.Palette())
}

func (o *submissionShowOptions) whole(s fixture.Submission) error {
	for _, f := range s.Files {
		if err := o.app.print("%s\n", o.app.out.Palette().Bold("-- "+terminal.Escape(f.Name)+" --")); err != nil {
			return err
		}
		if err := o.text(f.Data, terminal.NewPalette(false)); err != nil {
			return err
		}
	}
	return nil
}

// text writes lines unchanged for a program. For a person it escapes what is not printable,
// and colours the lines of a difference.
func (o *submissionShowOptions) text(data []byte, pal terminal.Palette) error {
	if !o.app.out.IsTerminal() {
		return o.app.print("%s", data)
	}
	for line := range bytes.Lines(data) {
		text := terminal.Escape(strings.ReplaceAll(strings.TrimSuffix(string(line), "\n"), "\t", strings.Repeat(" ", terminal.TabWidth)))
		if err := o.app.print("%s\n", colored(text, pal)); err != nil {
			return err
		}
	}
	return nil
}

func colored(line string, pal terminal.Palette) string {
	switch {
	case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		return pal.Bold(line)
	case strings.HasPrefix(line, "@@"):
		return pal.Cyan(line)
	case strings.HasPrefix(line, "+"):
		return pal.Green(line)
	case strings.HasPrefix(line, "-"):
		return pal.Red(line)
	}
	return line
}
