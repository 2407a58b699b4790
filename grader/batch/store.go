package batch

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"grade/grader/submission"
)

// submissionsDir is where a ledger keeps what was handed in: a zip for each content,
// which can be graded again when the folder it came from has long changed.
const submissionsDir = "submissions"

func (l *Ledger) zipOf(content string) string {
	return filepath.Join(l.dir, submissionsDir, content+".zip")
}

// keepFiles keeps the files of a submission. What was refused when it was read is not
// kept: it would be refused again.
func (l *Ledger) keepFiles(content string, s *submission.Snapshot) error {
	name := l.zipOf(content)
	if _, err := os.Stat(name); err == nil || len(s.Problems) > 0 {
		return nil
	}
	data, err := zipped(s)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o755)
	}
	if err == nil {
		err = writeWhole(name, data)
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

// writeWhole writes a file that is there as a whole or not at all.
func writeWhole(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // not there any more, if all went well
	_, err = f.Write(data)
	if err := errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

// syncDir sees to it that the names in a folder outlast a loss of power.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) { // not every system of files can
		err = nil
	}
	return errors.Join(err, f.Close())
}

// files takes the snapshot of a submission that was kept. It wraps [fs.ErrNotExist] if
// it was not.
func (l *Ledger) files(r Record) (*submission.Snapshot, error) {
	name := l.zipOf(r.Content)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the files of this submission were not kept: %w", fs.ErrNotExist)
	}
	s, err := submission.Take(name)
	if err != nil {
		return nil, err
	}
	if contentOf(s) != r.Content {
		return nil, fmt.Errorf("%s is not what was handed in: it has been changed", name)
	}
	s.Dir, s.Ignored = r.Result.Submission.Dir, r.Result.Submission.Ignored
	return s, nil
}
