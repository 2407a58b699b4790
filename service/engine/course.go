package engine

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/fault"
)

// loaded is a course that jobs are for.
type loaded struct {
	hash      string
	exercises map[string]*course.Exercise
}

// SetCourse sets the course that jobs are for from now on, and keeps its files for the
// workers. It returns the exercises, and the errors of those that cannot be loaded. If there
// are any, a course that was set before goes on, and none of the exercises is returned: else
// a slip in one file would take its exercise away from a whole class.
func (e *Engine) SetCourse(ctx context.Context, fsys fs.FS) (list []*course.Exercise, broken []error, err error) {
	data, err := packedCourse(fsys)
	if err != nil {
		return nil, nil, fmt.Errorf("read the course: %w", err)
	}
	l := &loaded{hash: hashOf(data), exercises: map[string]*course.Exercise{}}
	// What is loaded is what was packed, whatever is written meanwhile.
	packed, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, nil, fmt.Errorf("read the course: %w", err)
	}
	list, broken, err = course.Open(packed).LoadAll()
	if err != nil {
		return nil, broken, err
	}
	if len(broken) > 0 && e.hasCourse() {
		return nil, broken, nil
	}
	for _, x := range list {
		l.exercises[x.Name] = x
	}
	if err := e.courses.put(ctx, l.hash, func() ([]byte, error) { return data, nil }); err != nil {
		return nil, broken, fmt.Errorf("keep the course: %w", err)
	}
	e.mu.Lock()
	e.course = l
	e.state.setExercises(l.exercises)
	e.mu.Unlock()
	return list, broken, e.sweep(ctx)
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// hasCourse reports whether a course was set.
func (e *Engine) hasCourse() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.course != nil
}

// exercise returns an exercise of the course, and the hash of the course.
func (e *Engine) exercise(name string) (*course.Exercise, string, error) {
	e.mu.Lock()
	l := e.course
	e.mu.Unlock()
	if l == nil {
		return nil, "", errors.New("the engine has no course yet")
	}
	x, ok := l.exercises[name]
	if !ok {
		return nil, "", &fault.Error{Message: fmt.Sprintf("there is no exercise %q", name), Told: fmt.Sprintf("there is no exercise %q in this course", name)}
	}
	return x, l.hash, nil
}

// packedCourse writes what grading needs of a course as a zip: go.mod, the exercises
// without their shipped submissions, and the references. Equal files give equal bytes.
func packedCourse(fsys fs.FS) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(name) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || name != "go.mod" && !strings.Contains(name, "/") {
			return nil
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(data)
		}
		return err
	})
	if err == nil {
		err = w.Close()
	}
	return b.Bytes(), err
}

// skipped reports whether a folder of a course is nothing that grading needs.
func skipped(name string) bool {
	parts := strings.Split(name, "/")
	switch {
	case name == ".":
		return false
	case !slices.Contains([]string{course.ExercisesDir, "reference"}, parts[0]):
		return true
	}
	base := path.Base(name)
	return strings.HasPrefix(base, ".") || parts[0] == course.ExercisesDir && len(parts) == 3 && base == "submissions"
}

// unpackedCourse opens the files of a course that packedCourse has written.
func unpackedCourse(data []byte, hash string) (fs.FS, error) {
	if hashOf(data) != hash {
		return nil, fmt.Errorf("the course %.12s is not what was kept", hash)
	}
	return zip.NewReader(bytes.NewReader(data), int64(len(data)))
}
