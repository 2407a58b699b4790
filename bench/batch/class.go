package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
)

// shelved is a submission that is shipped with an exercise.
type shelved struct {
	exercise *course.Exercise
	fixture.Submission
}

// load returns all submissions of a course, by exercise and name.
func load(root fs.FS) (shelf []shelved, err error) {
	course := course.Open(root)
	names, err := course.Names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		e, err := course.Load(name)
		if err != nil {
			return nil, err
		}
		list, err := fixture.Load(course, name)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			shelf = append(shelf, shelved{e, s})
		}
	}
	return shelf, nil
}

// handed is what one student has handed in.
type handed struct {
	shelved
	student string
	files   []course.File
}

// handIn has a class of n students or a few more hand in what is on the shelf, all of
// it in turn, and of the last turn a sample. Who copies appends a comment: a grader
// would know an equal submission again.
func handIn(shelf []shelved, n int) (class []handed) {
	for turn := 0; n > 0; turn++ {
		for _, s := range sample(shelf, n) {
			h := handed{shelved: s, student: fmt.Sprintf("s%04d", len(class)), files: s.Files}
			if turn > 0 {
				h.files = commented(s.Files, turn)
			}
			class = append(class, h)
		}
		n -= len(shelf)
	}
	// No two neighbours of a kind, and every time the same order.
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(class), func(i, j int) {
		class[i], class[j] = class[j], class[i]
		class[i].student, class[j].student = class[j].student, class[i].student
	})
	return class
}

// sample is at least n of the shelf, or all of it: of each class in proportion and one
// at least, evenly spread over the exercises.
func sample(shelf []shelved, n int) (picked []shelved) {
	if n >= len(shelf) {
		return shelf
	}
	for _, class := range fixture.Classes {
		of := slices.DeleteFunc(slices.Clone(shelf), func(s shelved) bool { return s.Class != class })
		k := (n*len(of) + len(shelf) - 1) / len(shelf)
		for i := range k {
			picked = append(picked, of[i*len(of)/k])
		}
	}
	return picked
}

// commented are the files with a comment at the end of the first Go file.
func commented(files []course.File, turn int) []course.File {
	files = slices.Clone(files)
	i := slices.IndexFunc(files, func(f course.File) bool { return strings.HasSuffix(f.Name, ".go") })
	files[i].Data = fmt.Appendf(slices.Clone(files[i].Data), "\n// copy %d\n", turn)
	return files
}

// write puts a submission where a batch finds it: <root>/<student>/<exercise>.
func (h handed) write(root string) error {
	dir := filepath.Join(root, h.student, h.exercise.Name)
	for _, f := range h.files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// solution are the files with the exercise's own in place of the student's copies.
func (h handed) solution() []course.File {
	files := slices.Clone(h.files)
	for _, f := range h.exercise.Starter {
		if slices.Contains(h.exercise.Provided, f.Name) {
			files = slices.DeleteFunc(files, func(own course.File) bool { return own.Name == f.Name })
			files = append(files, f)
		}
	}
	return files
}

// describe says what a class has handed in.
func describe(class []handed) string {
	names, classes := map[string]bool{}, map[fixture.Class]bool{}
	for _, h := range class {
		names[h.exercise.Name], classes[h.Class] = true, true
	}
	return fmt.Sprintf("%d submissions of %d exercises and %d classes", len(class), len(names), len(classes))
}
