package file

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"grade/grader/results"
	"grade/grader/wholefile"
)

// Pending lists the submissions without a verdict. In files of two runs that were joined,
// one run may have graded what is pending in the other: Pending leaves it out.
func (s *Store) Pending() []results.Pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending()
}

func (s *Store) pending() (list []results.Pending) {
	for _, p := range s.wait {
		if last, ok := s.log.Last(p.Student, p.Exercise); !ok || last.Content != p.Content {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b results.Pending) int {
		return cmp.Or(strings.Compare(a.Student, b.Student), strings.Compare(a.Exercise, b.Exercise))
	})
	return list
}

// UpdatePending stores which submissions have no verdict. It rewrites the file only if
// something changes.
func (s *Store) UpdatePending(outcomes []results.Outcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := false
	for _, o := range outcomes {
		var was *results.Pending
		if p, ok := s.wait[o.ID()]; ok {
			was = &p
		}
		last, _ := s.log.Last(o.Student, o.Exercise)
		is := results.NextPending(was, last.Content, o)
		switch {
		case is == was:
			continue
		case is == nil:
			delete(s.wait, o.ID())
		default:
			s.wait[o.ID()] = *is
		}
		changed = true
	}
	if !changed {
		return nil
	}
	if err := s.writePending(); err != nil {
		return fmt.Errorf("keep what has no verdict: %w", err)
	}
	return nil
}

// Forget removes what is pending of a student's work at an exercise, and returns how much
// that was: work that was taken away will never have a verdict. It keeps all results.
func (s *Store) Forget(student, exercise string) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, p := range s.wait {
		if p.Student == student && p.Exercise == exercise {
			delete(s.wait, id)
			n++
		}
	}
	if n == 0 {
		return 0, nil
	}
	if err := s.writePending(); err != nil {
		return 0, fmt.Errorf("forget what has no verdict: %w", err)
	}
	return n, nil
}

func (s *Store) writePending() error {
	var lines bytes.Buffer
	for _, p := range s.pending() {
		line, err := json.Marshal(p)
		if err != nil {
			return err
		}
		lines.Write(append(line, '\n'))
	}
	return wholefile.Keep(filepath.Join(s.dir, pendingFile), lines.Bytes())
}

// readPending reads the pending submissions. Of two lines for one submission, as after two
// files were joined, the newer one holds.
func readPending(dir string) (map[results.PendingID]results.Pending, error) {
	pending := map[results.PendingID]results.Pending{}
	name := filepath.Join(dir, pendingFile)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return pending, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	n := 0
	for line := range bytes.Lines(data) {
		if n++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var p results.Pending
		if err := json.Unmarshal(line, &p); err != nil || p.Schema != results.PendingSchema || p.Exercise == "" {
			return nil, errors.Join(fmt.Errorf("open results: %s:%d: not of the kind %s; put the file aside: what it names is then taken for not handed in until it is graded", name, n, results.PendingSchema), err)
		}
		if other, ok := pending[p.ID()]; !ok || p.Recorded.After(other.Recorded) {
			pending[p.ID()] = p
		}
	}
	return pending, nil
}
