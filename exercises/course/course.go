// Package course reads a course: its exercises in exercises/<name>/, their reference
// solutions in reference/<name>/, and its rules in grade.yaml. It runs nothing, and
// knows neither sandboxes nor submissions.
//
// [Open] opens a course, [Course.Names] lists its exercises, and [Course.Load] reads
// one. Load refuses an exercise that cannot be graded fairly, for example with a hidden
// test that no check names, points that do not sum to 100, or a test without an
// observation; [Course.Lint] reports what an author should mend besides. Both name
// every fault with its file and line. [ParsePolicy] reads grade.yaml.
package course

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Course is a course's files. It reads them anew with each call.
type Course struct {
	fsys   fs.FS
	module func() (string, error)
}

// Open returns the course whose root is fsys. It reads nothing yet.
func Open(fsys fs.FS) *Course {
	return &Course{
		fsys:   fsys,
		module: sync.OnceValues(func() (string, error) { return readModule(fsys) }),
	}
}

// FS returns the course's files.
func (c *Course) FS() fs.FS { return c.fsys }

// Module returns the module path in the course's go.mod; "grade" without a go.mod, and
// "" for a go.mod without a path, which Load reports.
func (c *Course) Module() string {
	m, _ := c.module()
	return m
}

// Names returns the folders that hold an exercise.yaml, sorted.
func (c *Course) Names() ([]string, error) {
	entries, err := fs.ReadDir(c.fsys, ExercisesDir)
	if err != nil {
		return nil, fmt.Errorf("list exercises: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		_, err := fs.Stat(c.fsys, path.Join(ExercisesDir, e.Name(), configFile))
		switch {
		case err == nil:
			names = append(names, e.Name())
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("list exercises: %w", err)
		}
	}
	return names, nil
}

// nameGrammar keeps names of exercises fit for folders, arguments of commands and
// elements of import paths.
var nameGrammar = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// IsName reports whether name is a valid name of an exercise.
func IsName(name string) bool { return nameGrammar.MatchString(name) }

func readModule(fsys fs.FS) (string, error) {
	data, err := fs.ReadFile(fsys, "go.mod")
	if errors.Is(err, fs.ErrNotExist) {
		return KitModule, nil
	}
	if err != nil {
		return "", err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "//")
		if f := strings.Fields(line); len(f) == 2 && f[0] == "module" {
			if m, err := strconv.Unquote(f[1]); err == nil {
				return m, nil
			}
			return f[1], nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", err
	}
	return "", errors.New("no line with the module's path")
}
