// Package exercises reads a course: the folders exercises/<name>/, which hold
// what an exercise asks and how it is graded, and reference/<name>/, which hold
// how it is solved. It runs nothing, and knows neither sandboxes nor verdicts.
//
// A caller opens the course with [Open], lists it with [Course.Names] and reads
// one exercise with [Course.Load], which refuses whatever could not be graded
// fairly: hidden tests that no check names, checks that no test answers, points
// that do not sum to 100, tests without an observation. It names every fault
// with its file and line. [Course.Load] reads the submissions that are
// shipped with an exercise to test it.
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

// Module is the module path that the course's go.mod states; "grade" without a
// go.mod. It is "" when the go.mod states none, which Load reports.
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

// Names of exercises are also names of folders, of commands' arguments and of
// the last element of an import path.
var nameGrammar = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// IsName reports whether an exercise may have that name.
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
