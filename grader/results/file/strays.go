package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"grade/grader/results"
	"grade/grader/wholefile"
)

// straysFile has a line for each submission of an unknown exercise: its student is in the
// gradebook. The file of what has no verdict cannot have them: it is about exercises, and
// older programs refuse a line without one.
const straysFile = "no-exercise.jsonl"

// Strays lists the submissions of an unknown exercise that the last runs have found. Of a
// student with other work it lists none: that shows the student.
func (s *Store) Strays() ([]results.Pending, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.strays()
}

func (s *Store) strays() (list []results.Pending, err error) {
	name := filepath.Join(s.dir, straysFile)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	for line := range bytes.Lines(data) {
		var p results.Pending
		if err := json.Unmarshal(line, &p); err != nil || p.Schema != results.PendingSchema || p.Student == "" {
			return nil, errors.Join(fmt.Errorf("open results: %s:%d: not of the kind %s; put the file aside: the next run finds it all again", name, len(list)+1, results.PendingSchema), err)
		}
		list = append(list, p)
	}
	return slices.DeleteFunc(list, s.hasOther), nil
}

// hasOther reports whether a student has work at an exercise.
func (s *Store) hasOther(p results.Pending) bool {
	for _, w := range s.wait {
		if w.Student == p.Student {
			return true
		}
	}
	return slices.ContainsFunc(s.log.All(), func(r results.Record) bool { return r.Student == p.Student })
}

// KeepStrays stores what a run has found of unknown exercises. What earlier runs have found
// stays if it lies where it was and its student was not in this run.
func (s *Store) KeepStrays(found []results.Pending, inRun func(student string) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, err := s.strays()
	if err != nil {
		return err
	}
	kept = slices.DeleteFunc(kept, func(p results.Pending) bool {
		_, err := os.Lstat(p.Path)
		return err != nil || inRun(p.Student)
	})
	if kept = append(kept, found...); len(kept) == 0 {
		if err := os.Remove(filepath.Join(s.dir, straysFile)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	var lines bytes.Buffer
	for _, p := range kept {
		line, err := json.Marshal(p)
		if err != nil {
			return err
		}
		lines.Write(append(line, '\n'))
	}
	return wholefile.Keep(filepath.Join(s.dir, straysFile), lines.Bytes())
}
