// Package scaffold writes what a new exercise begins with: small, complete and
// right, so that its author changes one thing after the other and sees at once
// what breaks. It writes nothing to a disk.
package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"go/version"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"text/template"

	"golang.org/x/mod/modfile"

	"grade/exercises"
)

//go:embed template
var templates embed.FS

// data is what templates are filled with.
type data struct {
	Name, Module string
	Schemas      string // the way to the schemas' folder, for an editor
}

// Exercise returns the files of a new exercise, below the course's root.
func Exercise(name, module string) ([]exercises.File, error) {
	in := path.Join("exercises", name)
	files := make([]exercises.File, 0, 10)
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
		files = append(files, exercises.File{Name: f.name, Data: b.Bytes()})
	}
	return files, nil
}

// Where a course that is not grade's own keeps the kit, and what it calls it.
const (
	kitDir     = "kit"
	kitModule  = "grade"
	kitVersion = "v0.0.0"
	schemasDir = kitDir + "/schema"
)

// schemasFrom is the way to the schemas from a folder of a course: in grade's own,
// where they are written, and else in the kit.
func schemasFrom(dir, module string) string {
	to := schemasDir
	if module == kitModule {
		to = "exercises/schema"
	}
	way, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(to))
	if err != nil {
		panic(err) // both are relative
	}
	return filepath.ToSlash(way)
}

// Kit returns the files of a course that are grade's: what hidden tests import, a
// module of its own without the kit's tests, and the schemas, which an editor finds
// there without a network.
func Kit(sources fs.FS, goVersion string) ([]exercises.File, error) {
	files := []exercises.File{{Name: kitDir + "/go.mod", Data: fmt.Appendf(nil, "module %s\n\ngo %s\n", kitModule, goVersion)}}
	for _, dir := range []string{"observe", "observe/wire"} {
		names, err := fs.Glob(sources, dir+"/*.go")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			data, err := fs.ReadFile(sources, name)
			if err != nil {
				return nil, err
			}
			files = append(files, exercises.File{Name: path.Join(kitDir, name), Data: data})
		}
	}
	more, err := schemas()
	return append(files, more...), err
}

func schemas() (files []exercises.File, err error) {
	names, err := fs.Glob(exercises.Schemas, "schema/*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := exercises.Schemas.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, exercises.File{Name: path.Join(schemasDir, path.Base(name)), Data: data})
	}
	return files, nil
}

// GoMod makes a course's go.mod say where the kit is, and that starters and
// submissions, which need not compile, are no packages of the course. An empty old
// one is a new course's, of that module.
func GoMod(old []byte, module, goVersion string) ([]byte, error) {
	f, err := modfile.Parse("go.mod", old, nil)
	if err != nil {
		return nil, err
	}
	if f.Module == nil {
		if err := f.AddModuleStmt(module); err != nil {
			return nil, err
		}
	}
	// The kit's version is the least that the course can have.
	if f.Go == nil || version.Compare("go"+f.Go.Version, "go"+goVersion) < 0 {
		if err := f.AddGoStmt(goVersion); err != nil {
			return nil, err
		}
	}
	for _, dir := range []string{"starter", "submissions"} {
		if err := f.AddIgnore(dir); err != nil {
			return nil, err
		}
	}
	if f.Module.Mod.Path != kitModule {
		if err := f.AddRequire(kitModule, kitVersion); err != nil {
			return nil, err
		}
		if err := f.AddReplace(kitModule, "", "./"+kitDir, ""); err != nil {
			return nil, err
		}
	}
	f.Cleanup()
	return f.Format()
}
