package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

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

// taken are the names that a package of an exercise cannot have: of packages that
// its hidden tests import, and of folders that are no packages.
var taken = []string{"main", "testing", "observe", "kit", "grade", "hidden", "starter", "submissions", "testdata", "vendor", "schema", "scaffold"}

func (o *newOptions) run() error {
	if !course.IsName(o.name) {
		return usage("as in: grade exercise new gradclip", "exercise %q: a name consists of a to z and 0 to 9 and begins with a letter", o.name)
	}
	if slices.Contains(taken, o.name) || token.IsKeyword(o.name) {
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
	if err := plant(dir, files); err != nil {
		return err
	}
	if err := refresh(dir, own); err != nil {
		return err
	}
	for _, f := range files {
		if err := o.app.print("%s\n", filepath.Join(dir, filepath.FromSlash(f.Name))); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(o.app.err, "next: change it, and run: grade exercise check %s --course %s\n", o.name, dir)
	return err
}

// own are the files that grade keeps in a course: its go.mod first, and the kit, if
// the course does not have that from elsewhere.
func (o *newOptions) own(dir string) ([]course.File, error) {
	mod, elsewhere, err := o.goMod(dir)
	if err != nil {
		return nil, err
	}
	own, courseModule := []course.File{{Name: "go.mod", Data: mod}}, modfile.ModulePath(mod)
	schemas, err := scaffold.Schemas(courseModule)
	if err != nil {
		return nil, err
	}
	own = append(own, schemas...)
	switch {
	case courseModule == course.KitModule:
		return own, nil
	case elsewhere != "":
		_, err := fmt.Fprintf(o.app.err, "note: go.mod takes the module %s from %s, so no %s is written\n", course.KitModule, elsewhere, course.KitDir)
		return own, err
	}
	if err := foreignKit(filepath.Join(dir, course.KitDir)); err != nil {
		return nil, err
	}
	kit, err := course.Kit(grade.Sources, courseModule, goVersion())
	return append(own, kit...), err
}

// foreignKit refuses a folder that has the kit's name and is something else.
func foreignKit(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	mod, _ := os.ReadFile(filepath.Join(dir, "go.mod")) // without one it is not ours either
	if modfile.ModulePath(mod) == course.KitModule {
		return nil
	}
	return usage(fmt.Sprintf("rename it, or have go.mod take the kit from elsewhere: replace %s => ../grade", course.KitModule),
		"%s is there and is not the kit, which would be put in its place", dir)
}

// goMod is what the course's go.mod has to be, and where it takes the kit from, if
// that is not kit/.
func (o *newOptions) goMod(dir string) (mod []byte, elsewhere string, err error) {
	name := filepath.Join(dir, "go.mod")
	old, err := os.ReadFile(name)
	if o.module != "" {
		if err := module.CheckImportPath(o.module); err != nil || o.module == course.KitModule {
			return nil, "", usage("such as example.com/course; "+course.KitModule+" itself is the kit's", "--module %s: no path for a course", o.module)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, "", err
		}
		if around := courseAround(abs); around != "" {
			return nil, "", usage("go there, or name it: --course "+around, "%s lies in a course, %s, and would become one of its own", dir, around)
		}
		o.module = cmp.Or(o.module, moduleName(filepath.Base(abs)))
	case err != nil:
		return nil, "", err
	case o.module != "" && !slices.Contains([]string{"", o.module}, modfile.ModulePath(old)):
		return nil, "", usage("leave --module out", "%s is of the module %s", name, modfile.ModulePath(old))
	}
	mod, elsewhere, err = scaffold.GoMod(old, o.module, goVersion())
	if err != nil {
		return nil, "", &fault.UsageError{Message: "read " + name, Hint: "mend it, or remove it to have a new one", Err: err}
	}
	return mod, elsewhere, nil
}

// courseAround is the innermost folder above dir that is a course; "" if none is.
func courseAround(dir string) string {
	for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
		_, noModule := os.Stat(filepath.Join(up, "go.mod"))
		info, err := os.Stat(filepath.Join(up, "exercises"))
		if noModule == nil && err == nil && info.IsDir() {
			return up
		}
	}
	return ""
}

// moduleName makes a module path of a folder's name.
func moduleName(folder string) string {
	name := regexp.MustCompile(`[^a-z0-9._-]+`).ReplaceAllString(strings.ToLower(folder), "-")
	if name = strings.Trim(name, "-._"); name == "" || name == "grade" {
		return "course"
	}
	return name
}

// refresh writes files that are grade's own in a course, where they differ.
func refresh(dir string, files []course.File) error {
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, f.Data) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
