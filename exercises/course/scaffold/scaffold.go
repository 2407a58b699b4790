// Package scaffold writes the files that a new exercise begins with: small, complete and
// correct, so that its author changes one thing after the other and sees at once what
// breaks. It also knows what a student begins with. [WriteAll] overwrites nothing, and
// [Refresh] only the files that grade maintains.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"go/version"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"text/template"

	"golang.org/x/mod/modfile"

	"grade/exercises/course"
	"grade/exercises/schema"
)

//go:embed template
var templates embed.FS

// data fills the templates.
type data struct {
	Name, Module string
	Schemas      string // relative path to the schemas, for an editor
}

// Exercise returns the files of a new exercise, below the course's root.
func Exercise(name, module string) ([]course.File, error) {
	in := path.Join("exercises", name)
	files := make([]course.File, 0, 10)
	for _, f := range []struct{ template, name string }{
		{"exercise.yaml", path.Join(in, "exercise.yaml")},
		{"README.md", path.Join(in, "README.md")},
		{"starter.go", path.Join(in, "starter", name+".go")},
		{"starter_test.go", path.Join(in, "starter", name+"_test.go")},
		{"hidden_test.go", path.Join(in, "hidden", name+"_test.go")},
		{"accepted.go", path.Join(in, "submissions/accepted/running-mean", name+".go")},
		{"accepted.yaml", path.Join(in, "submissions/accepted/running-mean/expect.yaml")},
		{"wrong.go", path.Join(in, "submissions/wrong_answer/empty-is-nan", name+".go")},
		{"wrong.yaml", path.Join(in, "submissions/wrong_answer/empty-is-nan/expect.yaml")},
		{"reference.go", path.Join("reference", name, name+".go")},
	} {
		t, err := template.ParseFS(templates, "template/"+f.template+".tmpl")
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		to := data{name, module, schemasFrom(path.Dir(f.name), module)}
		if err := t.Execute(&b, to); err != nil {
			return nil, err
		}
		files = append(files, course.File{Name: f.name, Data: b.Bytes()})
	}
	return files, nil
}

// kitVersion is the version of the kit that a course with the kit in a folder requires.
const kitVersion = "v0.0.0"

// schemasDir is the folder of the schemas in a course that is not grade's own, beside
// the kit's packages.
const schemasDir = course.KitDir + "/schema"

// schemasFrom returns the relative path to the schemas from a folder of a course: to
// their source in grade's own, and to the kit in any other.
func schemasFrom(dir, module string) string {
	to := schemasDir
	if module == course.KitModule {
		to = "exercises/schema"
	}
	way, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(to))
	if err != nil {
		panic(err) // both are relative
	}
	return filepath.ToSlash(way)
}

// Schemas returns the schemas for a course, by which an editor checks and completes
// YAML files without a network. Grade's own course has them already.
func Schemas(module string) (files []course.File, err error) {
	if module == course.KitModule {
		return nil, nil
	}
	names, err := fs.Glob(schema.Files, "*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := schema.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, course.File{Name: path.Join(schemasDir, name), Data: data})
	}
	return files, nil
}

// GoMod changes a course's go.mod so that it finds the kit and ignores starters and
// submissions, which need not compile. An empty old one starts a new course of that
// module. If the course replaces the kit by another folder, GoMod keeps that and
// returns it as elsewhere.
func GoMod(old []byte, module, goVersion string) (mod []byte, elsewhere string, err error) {
	f, err := modfile.Parse("go.mod", old, nil)
	if err != nil {
		return nil, "", err
	}
	if f.Module == nil {
		if module == "" {
			return nil, "", errors.New("no line with the module's path")
		}
		if err := f.AddModuleStmt(module); err != nil {
			return nil, "", err
		}
	}
	// The course needs at least the kit's version of Go.
	if f.Go == nil || version.Compare("go"+f.Go.Version, "go"+goVersion) < 0 {
		if err := f.AddGoStmt(goVersion); err != nil {
			return nil, "", err
		}
	}
	for _, dir := range []string{"starter", "submissions"} {
		if err := f.AddIgnore(dir); err != nil {
			return nil, "", err
		}
	}
	if f.Module.Mod.Path != course.KitModule {
		if elsewhere, err = requireKit(f); err != nil {
			return nil, "", err
		}
	}
	f.Cleanup()
	mod, err = f.Format()
	return mod, elsewhere, err
}

// requireKit adds the kit to a go.mod that does not require it.
func requireKit(f *modfile.File) (elsewhere string, err error) {
	if !slices.ContainsFunc(f.Require, func(r *modfile.Require) bool { return r.Mod.Path == course.KitModule }) {
		if err := f.AddRequire(course.KitModule, kitVersion); err != nil {
			return "", err
		}
	}
	for _, r := range f.Replace {
		if r.Old.Path != course.KitModule {
			continue
		}
		if path.Clean(r.New.Path) != course.KitDir {
			elsewhere = r.New.Path
		}
		return elsewhere, nil
	}
	return "", f.AddReplace(course.KitModule, "", "./"+course.KitDir, "")
}
