package main

import (
	"github.com/spf13/cobra"

	"grade/grader/report/terminal/markdown"
)

type showOptions struct {
	app      *app
	exercise string
}

func newShow(a *app) *cobra.Command {
	o := &showOptions{app: a}
	return &cobra.Command{
		Use:     "show EXERCISE",
		Short:   "Show what an exercise asks",
		GroupID: groupExercises,
		Long: `Show an exercise's README: the API to write, every rule that is graded, and the
limits on memory and speed.

On a terminal it is set for reading; in a pipe it is the Markdown source.`,
		Example: `  grade show autograd
  grade show autograd | less
  grade show autograd > autograd.md`,
		Args:              anExercise(a, 0),
		ValidArgsFunction: completeExercise(a),
		RunE: func(_ *cobra.Command, args []string) error {
			o.exercise = args[0]
			return o.run()
		},
	}
}

func (o *showOptions) run() error {
	e, err := o.app.exercise(o.exercise)
	if err != nil {
		return err
	}
	if !o.app.out.IsTerminal() {
		return o.app.print("%s", e.Readme)
	}
	return o.app.print("%s", markdown.Render(e.Readme, markdown.Options{Color: o.app.out.Color, Width: o.app.out.Width}))
}
