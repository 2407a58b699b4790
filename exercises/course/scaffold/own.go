package scaffold

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/wholefile"
)

// Own returns the files that grade maintains in the course in dir: its go.mod first, and
// the kit out of sources. If the course takes the kit from elsewhere, Own leaves the kit
// out and returns that place. Module is the path of a new course; empty: the folder's name.
// What the author has to mend is a [fault.Error] or a [NestedError].
func Own(sources fs.FS, dir, module string) (own []course.File, elsewhere string, err error) {
	mod, elsewhere, err := goMod(dir, module)
	if err != nil {
		return nil, "", err
	}
	own, courseModule := []course.File{{Name: "go.mod", Data: mod}}, modfile.ModulePath(mod)
	schemas, err := Schemas(courseModule)
	if err != nil {
		return nil, "", err
	}
	own = append(own, schemas...)
	switch {
	case courseModule == course.KitModule:
		return own, "", nil
	case elsewhere != "":
		return own, elsewhere, nil
	}
	if err := foreignKit(filepath.Join(dir, course.KitDir)); err != nil {
		return nil, "", err
	}
	kit, err := course.Kit(sources, courseModule, GoVersion())
	return append(own, kit...), "", err
}

// NestedError says that a new course would lie in another one.
type NestedError struct {
	Dir    string
	Course string // around Dir
}

func (e *NestedError) Error() string {
	return fmt.Sprintf("%s lies in a course, %s, and would become one of its own", e.Dir, e.Course)
}

// IsModule reports whether a path is valid as the module path of a course.
func IsModule(path string) bool {
	return module.CheckImportPath(path) == nil && path != course.KitModule
}

// foreignKit refuses a folder with the kit's name and other content.
func foreignKit(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	mod, _ := os.ReadFile(filepath.Join(dir, "go.mod")) // without one it is not ours either
	if modfile.ModulePath(mod) == course.KitModule {
		return nil
	}
	return refuse(fmt.Sprintf("rename it, or have go.mod take the kit from elsewhere: replace %s => ../grade", course.KitModule),
		"%s is there and is not the kit, which would be put in its place", dir)
}

// goMod returns the go.mod that the course needs, and where it takes the kit from, if that
// is not kit/.
func goMod(dir, module string) (mod []byte, elsewhere string, err error) {
	name := filepath.Join(dir, "go.mod")
	old, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, "", err
		}
		if around := courseAround(abs); around != "" {
			return nil, "", &NestedError{Dir: dir, Course: around}
		}
		module = cmp.Or(module, moduleName(filepath.Base(abs)))
	case err != nil:
		return nil, "", err
	case module != "" && !slices.Contains([]string{"", module}, modfile.ModulePath(old)):
		return nil, "", refuse("", "%s is of the module %s", name, modfile.ModulePath(old))
	}
	mod, elsewhere, err = GoMod(old, module, GoVersion())
	if err != nil {
		return nil, "", &fault.Error{Message: "read " + name, Advice: "mend it, or remove it to have a new one", Err: err}
	}
	return mod, elsewhere, nil
}

// courseAround returns the innermost folder above dir that is a course, or "".
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

// Refresh rewrites the files that grade maintains in a course, where they differ. What was
// written before an error may stay: the same once more writes the rest.
func Refresh(dir string, files []course.File) error {
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, f.Data) {
			continue
		}
		err := os.MkdirAll(filepath.Dir(name), 0o777)
		if err == nil {
			err = wholefile.Write(name, wholefile.Bytes(f.Data))
		}
		if err != nil {
			return because("write what grade maintains in "+dir, err)
		}
	}
	return nil
}
