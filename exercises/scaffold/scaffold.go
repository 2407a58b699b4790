// Package scaffold writes what a new exercise begins with: small, complete and
// right, so that its author changes one thing after the other and sees at once
// what breaks. It writes nothing to a disk.
package scaffold

import (
	"bytes"
	"embed"
	"go/version"
	"path"
	"text/template"

	"golang.org/x/mod/modfile"

	"grade/exercises"
)

//go:embed template
var templates embed.FS

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
		if err := t.Execute(&b, struct{ Name, Module string }{name, module}); err != nil {
			return nil, err
		}
		files = append(files, exercises.File{Name: f.name, Data: b.Bytes()})
	}
	return files, nil
}

// kitVersion is what a course requires that has the kit in a folder.
const kitVersion = "v0.0.0"

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
	if f.Module.Mod.Path != exercises.KitModule {
		if err := f.AddRequire(exercises.KitModule, kitVersion); err != nil {
			return nil, err
		}
		if err := f.AddReplace(exercises.KitModule, "", "./"+exercises.KitDir, ""); err != nil {
			return nil, err
		}
	}
	f.Cleanup()
	return f.Format()
}
