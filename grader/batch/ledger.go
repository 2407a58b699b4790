package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/verdict"
)

// RecordSchema names the format of a [Record] as JSON.
const RecordSchema = "grade/record/v1"

// Record is a grading as it is kept: one line of the results file. Of records of one
// attempt the last one holds: it was graded anew.
type Record struct {
	Schema    string          `json:"schema"`
	Key       string          `json:"key"` // of all that went into it
	Student   string          `json:"student"`
	Exercise  string          `json:"exercise"`
	Attempt   int             `json:"attempt"` // from 1, of this student's at this exercise
	Submitted time.Time       `json:"submitted,omitzero"`
	Source    string          `json:"submitted_source,omitempty"` // of that time
	Content   string          `json:"content"`                    // SHA-256 of what was handed in
	Path      string          `json:"path"`
	Folder    string          `json:"folder,omitempty"` // from the root of the submissions' repository
	Recorded  time.Time       `json:"recorded"`
	Limits    Limits          `json:"limits"`
	Result    *verdict.Result `json:"result"`
}

// Limits are those of each hidden test.
type Limits struct {
	MemoryBytes  int64   `json:"memory_bytes"`
	OutputBytes  int64   `json:"output_bytes"`
	ScratchBytes int64   `json:"scratch_bytes"`
	CPUMs        float64 `json:"cpu_ms"`
	WallMs       float64 `json:"wall_ms"`
}

func limitsOf(l course.Limits) Limits {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return Limits{l.Memory, l.Output, l.Scratch, ms(l.CPU), ms(l.Wall)}
}

// The files in a folder of results.
const (
	ResultsFile = "results.jsonl"
	regradeFile = "regrade.jsonl" // results that do not hold yet
)

// Ledger is a file of results that only ever grows. One process writes to it at a
// time. Its lines are on the disk before they are believed, and a line that a killed
// process has left half written is taken off when the file is next opened.
type Ledger struct {
	dir   string
	file  *os.File
	lock  *flock.Flock
	lines []Record
	byKey map[string]int
	last  map[owner]int
	moved map[moved]int // attempts that have another number here than in the file
	fault error         // the file could not be written, nor be put right: nothing more is
	// waiting is what waitingFile says of each.
	waiting map[Waited]Waiting
}

// moved is an attempt by the number that the file has.
type moved struct {
	owner
	content string
}

type owner struct {
	student, exercise string
	attempt           int // 0: the last one
}

// OpenLedger opens the results in dir, or begins them.
func OpenLedger(dir string) (*Ledger, error) {
	return openLedger(dir, ResultsFile, (*flock.Flock).TryLock)
}

// lockRetry is how often a ledger that another process writes to is asked for.
const lockRetry = 200 * time.Millisecond

// AwaitLedger is [OpenLedger], but where another process writes to the results it calls
// waiting and waits until that is done, or the context is.
func AwaitLedger(ctx context.Context, dir string, waiting func()) (*Ledger, error) {
	return openLedger(dir, ResultsFile, func(l *flock.Flock) (bool, error) {
		if ok, err := l.TryLock(); ok || err != nil {
			return ok, err
		}
		waiting()
		return l.TryLockContext(ctx, lockRetry)
	})
}

// ReadLedger reads the results in dir, to which others may write meanwhile. Nothing can
// be appended.
func ReadLedger(dir string) (*Ledger, error) {
	l := newLedger(dir)
	if err := l.readWaiting(); err != nil { // first: a run that ends meanwhile leaves nobody in neither file
		return nil, err
	}
	name := filepath.Join(dir, ResultsFile)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, &fault.UsageError{Message: "open results", Hint: "give the folder of results of an earlier grade batch: --results DIR", Err: err}
	}
	if _, err := l.parse(data); err != nil {
		return nil, fmt.Errorf("open results: %s: %w", name, err)
	}
	return l, nil
}

func newLedger(dir string) *Ledger {
	return &Ledger{dir: dir, byKey: map[string]int{}, last: map[owner]int{}, moved: map[moved]int{}, waiting: map[Waited]Waiting{}}
}

func openLedger(dir, file string, try func(*flock.Flock) (bool, error)) (*Ledger, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	name := filepath.Join(dir, file)
	l := newLedger(dir)
	l.lock = flock.New(name + ".lock")
	if ok, err := try(l.lock); err != nil {
		return nil, fmt.Errorf("open results: %s: %w", name, err)
	} else if !ok {
		return nil, &fault.UsageError{Message: name + " is being written by another grade", Hint: "wait for it, or give another folder: --results DIR"}
	}
	var err error
	if l.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err == nil {
		err = l.read()
	}
	if err != nil {
		err = fmt.Errorf("open results: %s: %w", name, err)
	} else if err = l.readWaiting(); err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// read takes in all whole lines, and cuts the file after them.
func (l *Ledger) read() error {
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
	case data[whole-1] != '\n': // somebody has mended the last line, and left it open
		_, err = l.file.WriteString("\n")
	default:
		return nil
	}
	return errors.Join(err, l.file.Sync())
}

// parse takes in all whole lines, and returns how many bytes they are. What is left is half
// a line, of a process that was killed.
func (l *Ledger) parse(data []byte) (whole int, err error) {
	for n, line := range slices.Collect(bytes.Lines(data)) {
		ended := bytes.HasSuffix(line, []byte("\n"))
		var r Record
		err := json.Unmarshal(line, &r)
		switch {
		case len(bytes.TrimSpace(line)) == 0:
		case err != nil && !ended:
			return whole, nil
		case err != nil:
			return 0, fmt.Errorf("line %d: %w; put the file aside, or mend the line", n+1, err)
		case r.Schema != RecordSchema || r.Result == nil || r.Attempt < 1:
			return 0, fmt.Errorf("line %d: no record of the kind %s; put the file aside, or mend the line", n+1, RecordSchema)
		default:
			l.take(r)
		}
		whole += len(line)
	}
	return whole, nil
}

// take takes in a record. Where files of two runs were put together, both may have
// counted the same number for different submissions: the later one is one more. And both
// may have graded the same one: it was handed in when it was first.
func (l *Ledger) take(r Record) {
	inFile := moved{owner{r.Student, r.Exercise, r.Attempt}, r.Content}
	i, known := l.last[inFile.owner]
	if number, ok := l.moved[inFile]; ok {
		r.Attempt = number
	} else if known && l.lines[i].Content != r.Content {
		last, _ := l.Last(r.Student, r.Exercise)
		r.Attempt = last.Attempt + 1
		l.moved[inFile] = r.Attempt
	}
	if i, ok := l.last[owner{r.Student, r.Exercise, r.Attempt}]; ok {
		if first := l.lines[i]; !first.Submitted.IsZero() && (r.Submitted.IsZero() || first.Submitted.Before(r.Submitted)) {
			r.Submitted, r.Source = first.Submitted, first.Source
		}
	}
	l.lines = append(l.lines, r)
	at := len(l.lines) - 1
	l.byKey[r.Key], l.last[owner{r.Student, r.Exercise, r.Attempt}] = at, at
	if last, ok := l.Last(r.Student, r.Exercise); !ok || r.Attempt >= last.Attempt {
		l.last[owner{r.Student, r.Exercise, 0}] = at
	}
}

// Append keeps a record for good. Where that fails, the file is as it was before.
func (l *Ledger) Append(r Record) error {
	if l.fault != nil {
		return l.fault
	}
	r.Schema = RecordSchema
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

// ByKey is the newest record of a key.
func (l *Ledger) ByKey(key string) (Record, bool) {
	i, ok := l.byKey[key]
	if !ok {
		return Record{}, false
	}
	return l.lines[i], true
}

// Last is the newest record of a student's last attempt at an exercise.
func (l *Ledger) Last(student, exercise string) (Record, bool) {
	i, ok := l.last[owner{student, exercise, 0}]
	if !ok {
		return Record{}, false
	}
	return l.lines[i], true
}

// attemptOf is the attempt that a submission is: the last one, if it is the same, or any
// that was the same at the same time, which a repeated run has seen before; 0: a new one.
func (l *Ledger) attemptOf(student, exercise, content string, submitted time.Time) Record {
	last, _ := l.Last(student, exercise)
	if last.Content == content {
		return last
	}
	for n := last.Attempt - 1; n > 0 && !submitted.IsZero(); n-- {
		if i, ok := l.last[owner{student, exercise, n}]; ok && l.lines[i].Content == content && l.lines[i].Submitted.Equal(submitted) {
			return l.lines[i]
		}
	}
	return Record{}
}

// firstRecorded is when an attempt was kept first: it may have been graded anew since.
func (l *Ledger) firstRecorded(r Record) time.Time {
	for _, first := range l.lines {
		if first.Student == r.Student && first.Exercise == r.Exercise && first.Attempt == r.Attempt {
			return first.Recorded
		}
	}
	return r.Recorded
}

// Attempts are the records that hold, one of each attempt, in the order in which they were
// first kept.
func (l *Ledger) Attempts() (list []Record) {
	told := map[owner]bool{}
	for _, r := range l.lines {
		o := owner{r.Student, r.Exercise, r.Attempt}
		if !told[o] {
			list = append(list, l.lines[l.last[o]])
		}
		told[o] = true
	}
	return list
}

// Close lets others write. A second time it does nothing.
func (l *Ledger) Close() error {
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
