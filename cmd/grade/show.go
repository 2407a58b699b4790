package main

import (
	"github.com/spf13/cobra"

	"grade/grader/report/terminal/markdown"
)

type showOptions struct {
	app      *app
	exercise string
	limits   bool
}

func newShow(a *app) *cobra.Command {
	o := &showOptions{app: a}
	cmd := &cobra.Command{
		Use:     "show EXERCISE",
		Short:   "Show what an exercise asks",
		GroupID: groupExercises,
		Long: `Show an exercise's README: the API to write, every rule that is graded, and the
limits on memory and speed.

On a terminal it is set for reading, page by page: PAGER names the program for that,
PAGER=cat has none. In a pipe it is the Markdown source.`,
		Example: `  grade show autograd
  grade show autograd > autograd.md
  grade show autograd --limits         # everything that can end a run or a build`,
		Args:              anExercise(a, 0),
		ValidArgsFunction: completeExercise(a),
		RunE: func(_ *cobra.Command, args []string) error {
			o.exercise = args[0]
			return o.run()
		},
	}
	cmd.Flags().BoolVar(&o.limits, "limits", false, "show the limits instead: of a submission, its build, its runs, its grading")
	return cmd
}

func (o *showOptions) run() error {
	e, err := o.app.exercise(o.exercise)
	if err != nil {
		return err
	}
	text := e.Readme
	if o.limits {
		text = []byte(limitsOf(e))
	}
	if !o.app.out.IsTerminal() {
		return o.app.print("%s", text)
	}
	return o.app.page(markdown.Render(text, markdown.Options{Color: o.app.out.Color, Width: o.app.out.Width}))
}
