// Package class makes classes of students who hand in the submissions that are shipped with
// the exercises, for benchmarks of many gradings.
package class

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
)

// Shipped is a submission that comes with an exercise.
type Shipped struct {
	Exercise *course.Exercise
	fixture.Submission
}

// Load returns all shipped submissions of a course, by exercise and name.
func Load(root fs.FS) (shipped []Shipped, err error) {
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
			shipped = append(shipped, Shipped{e, s})
		}
	}
	return shipped, nil
}

// Submission is what one student hands in.
type Submission struct {
	Shipped
	Student string
	Files   []course.File
}

// HandIn makes a class of n students or a few more. They hand in all shipped
// submissions in turn, and a sample in the last turn. From the second turn on a comment
// is appended, because a grader grades equal submissions only once.
func HandIn(shipped []Shipped, n int) (class []Submission) {
	for turn := 0; n > 0; turn++ {
		for _, s := range sample(shipped, n) {
			h := Submission{Shipped: s, Student: fmt.Sprintf("s%04d", len(class)), Files: s.Files}
			if turn > 0 {
				h.Files = commented(s.Files, turn)
			}
			class = append(class, h)
		}
		n -= len(shipped)
	}
	// The seed is fixed, so that every run has the same order.
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(class), func(i, j int) {
		class[i], class[j] = class[j], class[i]
		class[i].Student, class[j].Student = class[j].Student, class[i].Student
	})
	return class
}

// sample returns at least n of the shipped submissions, or all of them: at least one of
// each class and otherwise in proportion, evenly spread over the exercises.
func sample(shipped []Shipped, n int) (picked []Shipped) {
	if n >= len(shipped) {
		return shipped
	}
	for _, class := range fixture.Classes {
		of := slices.DeleteFunc(slices.Clone(shipped), func(s Shipped) bool { return s.Class != class })
		k := (n*len(of) + len(shipped) - 1) / len(shipped)
		for i := range k {
			picked = append(picked, of[i*len(of)/k])
		}
	}
	return picked
}

// commented returns the files with a comment at the end of the first Go file.
func commented(files []course.File, turn int) []course.File {
	files = slices.Clone(files)
	i := slices.IndexFunc(files, func(f course.File) bool { return strings.HasSuffix(f.Name, ".go") })
	files[i].Data = fmt.Appendf(slices.Clone(files[i].Data), "\n// copy %d\n", turn)
	return files
}

// Write writes a submission to <root>/<student>/<exercise>, where a batch finds it.
func (h Submission) Write(root string) error {
	dir := filepath.Join(root, h.Student, h.Exercise.Name)
	for _, f := range h.Files {
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

// Solution returns the files, with the exercise's provided files instead of the
// student's copies.
func (h Submission) Solution() []course.File {
	files := slices.Clone(h.Files)
	for _, f := range h.Exercise.Starter {
		if slices.Contains(h.Exercise.Provided, f.Name) {
			files = slices.DeleteFunc(files, func(own course.File) bool { return own.Name == f.Name })
			files = append(files, f)
		}
	}
	return files
}

// Exercises returns the names of the exercises that a class hands in, sorted.
func Exercises(class []Submission) []string {
	names := map[string]bool{}
	for _, h := range class {
		names[h.Exercise.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Describe summarises the submissions of a class.
func Describe(class []Submission) string {
	classes := map[fixture.Class]int{}
	for _, h := range class {
		classes[h.Class]++
	}
	var counts []string
	for _, c := range slices.Sorted(maps.Keys(classes)) {
		counts = append(counts, fmt.Sprintf("%d %s", classes[c], c))
	}
	return fmt.Sprintf("%d submissions of %d exercises: %s", len(class), len(Exercises(class)), strings.Join(counts, ", "))
}
