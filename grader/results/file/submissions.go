package file

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/wholefile"
)

// SubmissionsIn returns the folder in which the results in dir keep what was handed in.
func SubmissionsIn(dir string) string { return filepath.Join(dir, submissionsDir) }

func (s *Store) zipOf(content string) string {
	return filepath.Join(SubmissionsIn(s.dir), content+".zip")
}

// HasFiles reports whether the files of a submission are kept.
func (s *Store) HasFiles(content string) bool {
	_, err := os.Stat(s.zipOf(content))
	return err == nil
}

// KeepFiles stores the files of a submission as a zip named by its content, so that it can
// be graded again after its folder has changed.
func (s *Store) KeepFiles(content string, snapshot *submission.Snapshot) error {
	name := s.zipOf(content)
	if s.HasFiles(content) || len(snapshot.Problems) > 0 {
		return nil
	}
	data, err := zipped(snapshot)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o755)
	}
	if err == nil {
		err = wholefile.Keep(name, data)
	}
	if err != nil {
		return fmt.Errorf("keep a submission: %w", err)
	}
	return nil
}

func zipped(s *submission.Snapshot) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range s.Files {
		entry, err := w.Create(f.Name)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.Data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// Files takes the snapshot of a stored submission, under the name that it had.
func (s *Store) Files(r results.Record) (*submission.Snapshot, error) {
	name := s.zipOf(r.Content)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the files of this submission were not kept: %w", fs.ErrNotExist)
	}
	snapshot, err := submission.Take(name)
	if err != nil {
		return nil, err
	}
	if results.Content(snapshot) != r.Content {
		return nil, fmt.Errorf("%s is not what was handed in: it has been changed", name)
	}
	snapshot.Dir, snapshot.Ignored = r.Result.Submission.Dir, r.Result.Submission.Ignored
	return snapshot, nil
}
