package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"

	"grade/grader/results"
)

// log is a file of records that only ever grows. Opening it cuts off a line that a killed
// process has left half written.
type log struct {
	results.Index
	name  string
	file  *os.File     // nil: the records were read, and nothing can be appended
	lock  *flock.Flock // nil likewise
	fault error        // the file could not be written, nor be mended: nothing more is written
}

// owner is a student at an exercise.
type owner struct{ student, exercise string }

// openLog opens a file of records, or creates it.
func openLog(name string, try func(*flock.Flock) (bool, error)) (*log, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	l := &log{name: name}
	var err error
	if l.lock, err = lock(name, try); err != nil {
		return nil, err
	}
	if l.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err == nil {
		err = l.read()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open results: %w", err), l.close())
	}
	return l, nil
}

// read reads all whole lines, and cuts the file after them.
func (l *log) read() error {
	data, err := io.ReadAll(l.file)
	if err != nil {
		return err
	}
	whole, err := l.parse(data)
	switch {
	case err != nil || len(data) == 0:
		return err
	case whole < len(data):
		err = l.file.Truncate(int64(whole))
	case data[whole-1] != '\n': // an editor has dropped the last newline
		_, err = l.file.WriteString("\n")
	default:
		return nil
	}
	return errors.Join(err, l.file.Sync())
}

// parse reads all whole lines, and returns their length in bytes. The rest is half a line
// of a killed process.
func (l *log) parse(data []byte) (whole int, err error) {
	for n, line := range slices.Collect(bytes.Lines(data)) {
		ended := bytes.HasSuffix(line, []byte("\n"))
		var r results.Record
		err := json.Unmarshal(line, &r)
		switch {
		case len(bytes.TrimSpace(line)) == 0:
		case err != nil && !ended:
			return whole, nil
		case err != nil:
			return 0, fmt.Errorf("%s:%d: %w; put the file aside, or mend the line", l.name, n+1, err)
		case r.Schema != results.RecordSchema || r.Result == nil || r.Attempt < 1:
			return 0, fmt.Errorf("%s:%d: no record of the kind %s; put the file aside, or mend the line", l.name, n+1, results.RecordSchema)
		default:
			l.Add(r)
		}
		whole += len(line)
	}
	return whole, nil
}

// append keeps a record for good. If that fails, the file is as it was before.
func (l *log) append(r results.Record) error {
	if l.fault != nil {
		return l.fault
	}
	if l.file == nil {
		return errors.New("keep a result: the results were opened to be read, or are closed")
	}
	r.Schema = results.RecordSchema
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("keep a result: %w", err)
	}
	before, err := l.file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("keep a result: %w", err)
	}
	_, err = l.file.Write(append(line, '\n'))
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		err = fmt.Errorf("keep a result: %w", err)
		if mending := l.file.Truncate(before); mending != nil { // half a line may stand there: nothing may come after it
			l.fault = errors.Join(err, mending)
		}
		return err
	}
	l.Add(r)
	return nil
}

// close lets another process write. A second call does nothing.
func (l *log) close() error {
	var err error
	if l.file != nil {
		err = l.file.Close()
		l.file = nil
	}
	if l.lock != nil {
		err = errors.Join(err, l.lock.Unlock())
	}
	return err
}
