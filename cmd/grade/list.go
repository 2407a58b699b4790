package main

import (
	"errors"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/grader/report/terminal"
)

type listOptions struct{ app *app }

func newList(a *app) *cobra.Command {
	o := &listOptions{app: a}
	return &cobra.Command{
		Use:     "list",
		Short:   "List the exercises",
		GroupID: groupExercises,
		Long: `List the exercises of the course: name, title and what they are about.

In a pipe the three are separated by tabs.`,
		Example: `  grade list
  grade list --course ~/my-course
  grade list | cut -f 1`,
		Args:              atMost(0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return o.run() },
	}
}

// run lists the exercises that can be loaded, and then fails if one could not.
func (o *listOptions) run() error {
	list, broken, err := o.app.exercises()
	if err != nil {
		return err
	}
	width := 0
	for _, e := range list {
		width = max(width, len(e.Name))
	}
	for _, e := range list {
		if err := o.line(e, width); err != nil {
			return err
		}
	}
	return errors.Join(broken...)
}

func (o *listOptions) line(e *course.Exercise, width int) error {
	title, summary := terminal.Escape(e.Title), terminal.Escape(e.Summary)
	if !o.app.out.IsTerminal() {
		return o.app.print("%s\t%s\t%s\n", e.Name, title, summary)
	}
	p := o.app.out.Palette()
	if err := o.app.print("%s  %s\n", p.Bold(terminal.Pad(e.Name, width)), title); err != nil {
		return err
	}
	for _, l := range terminal.Wrap(summary, o.app.out.Width-width-2) {
		if err := o.app.print("%s  %s\n", terminal.Pad("", width), p.Dim(l)); err != nil {
			return err
		}
	}
	return nil
}
