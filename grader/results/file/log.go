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
	name   string
	file   *os.File     // nil: the records were read, and nothing can be appended
	lock   *flock.Flock // nil likewise
	lines  []results.Record
	byKey  map[string]int
	owners map[owner]*history
	fault  error // the file could not be written, nor be mended: nothing more is written
}

// owner is a student at an exercise.
type owner struct{ student, exercise string }

// history is one student's work at one exercise, as indices of lines.
type history struct {
	lines      []int
	attempts   map[int]int      // the line that holds for each attempt
	last       int              // the line that holds for the last attempt
	renumbered map[numbered]int // attempts that have another number here than in the file
}

// numbered is an attempt by the number in the file.
type numbered struct {
	number  int
	content string
}

func newLog() *log { return &log{byKey: map[string]int{}, owners: map[owner]*history{}} }

// openLog opens a file of records, or creates it.
func openLog(name string, try func(*flock.Flock) (bool, error)) (*log, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	l := newLog()
	l.name = name
	var err error
	if l.lock, err = lock(name, try); err != nil {
		return nil, err
	}
	if l.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err == nil {
		err = l.read()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open results: %s: %w", name, err), l.close())
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
			return 0, fmt.Errorf("line %d: %w; put the file aside, or mend the line", n+1, err)
		case r.Schema != results.RecordSchema || r.Result == nil || r.Attempt < 1:
			return 0, fmt.Errorf("line %d: no record of the kind %s; put the file aside, or mend the line", n+1, results.RecordSchema)
		default:
			l.take(r)
		}
		whole += len(line)
	}
	return whole, nil
}

// take adds a record to the index. In two files that were joined, both runs may have given
// one number to different submissions: the later one then gets the next number. And both
// may have graded the same one: the earlier time counts.
func (l *log) take(r results.Record) {
	h := l.owners[owner{r.Student, r.Exercise}]
	if h == nil {
		h = &history{attempts: map[int]int{}, renumbered: map[numbered]int{}}
		l.owners[owner{r.Student, r.Exercise}] = h
	}
	inFile := numbered{r.Attempt, r.Content}
	if number, ok := h.renumbered[inFile]; ok {
		r.Attempt = number
	} else if i, ok := h.attempts[r.Attempt]; ok && l.lines[i].Content != r.Content {
		r.Attempt = l.lines[h.last].Attempt + 1
		h.renumbered[inFile] = r.Attempt
	}
	if i, ok := h.attempts[r.Attempt]; ok {
		if first := l.lines[i]; !first.Submitted.IsZero() && (r.Submitted.IsZero() || first.Submitted.Before(r.Submitted)) {
			r.Submitted, r.Source = first.Submitted, first.Source
		}
	}
	at := len(l.lines)
	l.lines = append(l.lines, r)
	l.byKey[r.Key] = at
	if len(h.lines) == 0 || r.Attempt >= l.lines[h.last].Attempt {
		h.last = at
	}
	h.lines, h.attempts[r.Attempt] = append(h.lines, at), at
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
	l.take(r)
	return nil
}

// withKey returns the newest record of a key.
func (l *log) withKey(key string) (results.Record, bool) {
	i, ok := l.byKey[key]
	if !ok {
		return results.Record{}, false
	}
	return l.lines[i], true
}

// last returns the record that holds for a student's last attempt at an exercise.
func (l *log) last(o owner) (results.Record, bool) {
	h, ok := l.owners[o]
	if !ok {
		return results.Record{}, false
	}
	return l.lines[h.last], true
}

// history returns all records of a student at an exercise, in their order.
func (l *log) history(o owner) (list []results.Record) {
	if h, ok := l.owners[o]; ok {
		for _, i := range h.lines {
			list = append(list, l.lines[i])
		}
	}
	return list
}

// attempts returns the records that hold, in the order in which the attempts were first
// kept.
func (l *log) attempts() (list []results.Record) {
	type attempt struct {
		owner
		number int
	}
	seen := map[attempt]bool{}
	for _, r := range l.lines {
		a := attempt{owner{r.Student, r.Exercise}, r.Attempt}
		if !seen[a] {
			list = append(list, l.lines[l.owners[a.owner].attempts[r.Attempt]])
		}
		seen[a] = true
	}
	return list
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
