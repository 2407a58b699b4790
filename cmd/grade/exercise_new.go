package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"grade"
	"grade/exercises/course"
	"grade/exercises/course/scaffold"
	"grade/grader/fault"
)

type newOptions struct {
	app    *app
	name   string
	module string
}

func newExerciseNew(a *app) *cobra.Command {
	o := &newOptions{app: a}
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Begin an exercise of your own",
		Long: `Write a small exercise that works into the course in --course, or in the current
folder: exercise.yaml, README, starter, a hidden test, a reference, and a right and
a wrong submission. Change it step by step, and run "grade exercise check".

A course is a Go module: in an empty folder a go.mod is made, and in one that is
there the kit is entered, which hidden tests import and which is put into kit/, if
go.mod does not take it from elsewhere. No other file is overwritten.`,
		Example: `  grade exercise new gradclip --course .
  grade exercise new gradclip --course ~/course --module example.com/course`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("see: grade exercise new --help", "new: want one name, such as gradclip")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run()
		},
	}
	cmd.Flags().StringVar(&o.module, "module", "", "the module `PATH` of a new course; else the folder's name")
	_ = cmd.RegisterFlagCompletionFunc("module", cobra.NoFileCompletions)
	return cmd
}

// taken lists names that an exercise's package cannot have: of packages that its hidden
// tests import, of folders that are no packages or that not all may import, and of variables
// in the hidden test that it begins with.
var taken = []string{
	"main", "testing", "observe", "kit", "grade", "hidden", "starter", "submissions", "testdata", "vendor", "schema", "scaffold",
	"init", "internal", "o", "t", "r", "n", "xs",
}

// meansElse reports whether a name has a meaning already: to Go, whose predeclared names the
// hidden test uses, or to grade.
func meansElse(name string) bool {
	return slices.Contains(taken, name) || token.IsKeyword(name) || types.Universe.Lookup(name) != nil
}

func (o *newOptions) run() error {
	if !course.IsName(o.name) {
		return usage("as in: grade exercise new gradclip", "exercise %q: a name consists of a to z and 0 to 9 and begins with a letter", o.name)
	}
	if meansElse(o.name) {
		return usage("choose another one", "exercise %q: the name means something else to Go or to grade", o.name)
	}
	dir := cmp.Or(o.app.courseDir, ".")
	own, err := o.own(dir)
	if err != nil {
		return err
	}
	files, err := scaffold.Exercise(o.name, modfile.ModulePath(own[0].Data))
	if err != nil {
		return err
	}
	// The exercise comes last, because one that is there keeps the command from being repeated.
	if err := scaffold.Free(dir, files); err != nil {
		return err
	}
	if err := scaffold.Refresh(dir, own); err != nil {
		return err
	}
	if err := scaffold.WriteAll(dir, files); err != nil {
		return err
	}
	for _, f := range files {
		if err := o.app.print("%s\n", filepath.Join(dir, filepath.FromSlash(f.Name))); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(o.app.err, "next: change it, and run: grade exercise check %s --course %s\n", o.name, shellWord(dir))
	return err
}

// own returns the files that grade maintains in a course, its go.mod first.
func (o *newOptions) own(dir string) ([]course.File, error) {
	if o.module != "" && !scaffold.IsModule(o.module) {
		return nil, usage("such as example.com/course; "+course.KitModule+" itself is the kit's", "--module %s: no path for a course", o.module)
	}
	own, elsewhere, err := scaffold.Own(grade.Sources, dir, o.module)
	if nested := (*scaffold.NestedError)(nil); errors.As(err, &nested) {
		return nil, &fault.Error{Message: nested.Error(), Advice: "go there, or name it: --course " + nested.Course}
	}
	if err == nil && elsewhere != "" {
		_, err = fmt.Fprintf(o.app.err, "note: go.mod takes the module %s from %s, so no %s is written\n", course.KitModule, elsewhere, course.KitDir)
	}
	return own, withHint("leave --module out", err)
}
