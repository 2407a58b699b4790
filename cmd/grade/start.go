package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"grade/exercises/course/scaffold"
)

type startOptions struct {
	app      *app
	exercise string
	dir      string
}

func newStart(a *app) *cobra.Command {
	o := &startOptions{app: a}
	return &cobra.Command{
		Use:     "start EXERCISE [DIR]",
		Short:   "Begin an exercise in a folder of your own",
		GroupID: groupExercises,
		Long: `Write an exercise's starter into DIR, which is made if need be: the code to begin
with, some public tests, the README and a go.mod. Without DIR it is a folder with
the exercise's name.

Nothing is overwritten. Where a file is in the way, nothing is written at all.`,
		Example: `  grade start autograd
  grade start autograd ~/go/autograd
  cd autograd && go test && grade submit`,
		Args:              anExercise(a, 1),
		ValidArgsFunction: completeExercise(a),
		RunE: func(_ *cobra.Command, args []string) error {
			o.exercise, o.dir = args[0], args[0]
			if len(args) > 1 {
				o.dir = args[1]
			}
			return o.run()
		},
	}
}

func (o *startOptions) run() error {
	e, err := o.app.exercise(o.exercise)
	if err != nil {
		return err
	}
	files := scaffold.Starter(e)
	if err := scaffold.WriteAll(o.dir, files); err != nil {
		return err
	}
	for _, f := range files {
		if err := o.app.print("%s\n", filepath.Join(o.dir, filepath.FromSlash(f.Name))); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(o.app.err, "next: read %s, write your solution, run go test there, then: grade submit %s%s\n",
		filepath.Join(o.dir, "README.md"), shellWord(o.dir), o.app.sameCourse())
	return err
}
