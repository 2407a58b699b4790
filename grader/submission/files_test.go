package submission

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grade/grader/fault"
)

// Files in memory are taken and refused as those of a folder are.
func TestFromFilesIsTake(t *testing.T) {
	many := map[string]string{}
	for i := range MaxFiles + 2 {
		many[strings.Repeat("a", i+1)+".go"] = "package a\n"
	}
	for name, files := range map[string]map[string]string{
		"sound":      {"value.go": "package value\n", "a.go": "package value\n\n// a\n"},
		"not taken":  {"value.go": "package value\n", "notes.md": "x", "value_test.go": "package value\n", "_a.go": "x", ".b.go": "x", "in/c.go": "x", "in/d/e.go": "x"},
		"platform":   {"value.go": "package value\n", "value_linux.go": "package value\n"},
		"name":       {"Value.go": "package value\n"},
		"assembly":   {"value.go": "package value\n", "value.s": "x"},
		"api":        {APIFile: "package value\n"},
		"many":       many,
		"large":      {"value.go": strings.Repeat("/", MaxFileSize+1)},
		"large all":  {"a.go": strings.Repeat("/", MaxFileSize), "b.go": strings.Repeat("/", MaxFileSize), "c.go": strings.Repeat("/", MaxFileSize), "d.go": strings.Repeat("/", MaxFileSize), "e.go": "/"},
		"no package": {"value.go": "func"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, list := t.TempDir(), []File{}
			for name, data := range files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
					t.Fatal(err)
				}
				list = append(list, File{name, []byte(data)})
			}
			want, err := Take(dir)
			if err != nil {
				t.Fatal(err)
			}
			got, err := FromFiles(want.Dir, list)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := summary(got), summary(want); a != b {
				t.Errorf("in memory:\n%s\nin a folder:\n%s", a, b)
			}
		})
	}
	var usage *fault.Error
	if _, err := FromFiles("x", []File{{Name: "notes.md"}}); !errors.As(err, &usage) {
		t.Errorf("no Go file: %v", err)
	}
}

// summary is all that a snapshot says.
func summary(s *Snapshot) string {
	var b strings.Builder
	b.WriteString(s.Dir + " " + s.Hash + " " + s.Package + " " + s.PackageFile + "\n")
	for _, f := range s.Files {
		b.WriteString(f.Name + "\n")
	}
	for _, name := range s.Ignored {
		b.WriteString("ignored " + name + "\n")
	}
	for _, p := range s.Problems {
		b.WriteString(p.File + ": " + p.Rule + ": " + p.Message + "\n")
	}
	return b.String()
}
