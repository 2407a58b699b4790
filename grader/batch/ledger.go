package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"grade/exercises"
	"grade/grader"
)

// RecordSchema names the format of a [Record] as JSON.
const RecordSchema = "grade/record/v1"

// Record is a grading as it is kept: one line of the results file.
type Record struct {
	Schema   string         `json:"schema"`
	Key      string         `json:"key"` // of all that went into it
	Student  string         `json:"student"`
	Exercise string         `json:"exercise"`
	Path     string         `json:"path"`
	Recorded time.Time      `json:"recorded"`
	Limits   Limits         `json:"limits"`
	Result   *grader.Result `json:"result"`
}

// Limits are those of each hidden test.
type Limits struct {
	MemoryBytes  int64   `json:"memory_bytes"`
	OutputBytes  int64   `json:"output_bytes"`
	ScratchBytes int64   `json:"scratch_bytes"`
	CPUMs        float64 `json:"cpu_ms"`
	WallMs       float64 `json:"wall_ms"`
}

func limitsOf(l exercises.Limits) Limits {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return Limits{l.Memory, l.Output, l.Scratch, ms(l.CPU), ms(l.Wall)}
}

// ResultsFile is the name of the file in a folder of results.
const ResultsFile = "results.jsonl"

// Ledger is a file of results that only ever grows. One process writes to it at a
// time. Its lines are on the disk before they are believed, and a line that a killed
// process has left half written is taken off when the file is next opened.
type Ledger struct {
	file  *os.File
	lock  *flock.Flock
	lines []Record
	byKey map[string]int
	last  map[owner]int
}

type owner struct{ student, exercise string }

// OpenLedger opens the results in dir, or begins them.
func OpenLedger(dir string) (*Ledger, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	name := filepath.Join(dir, ResultsFile)
	lock := flock.New(name + ".lock")
	if ok, err := lock.TryLock(); err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	} else if !ok {
		return nil, &grader.UsageError{Message: name + " is being written by another grade", Hint: "wait for it, or give another folder: --results DIR"}
	}
	l := &Ledger{lock: lock, byKey: map[string]int{}, last: map[owner]int{}}
	var err error
	if l.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err == nil {
		err = l.read()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open results: %s: %w", name, err), l.Close())
	}
	return l, nil
}

// read takes in all whole lines, and cuts the file after them.
func (l *Ledger) read() error {
	data, err := io.ReadAll(l.file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	for n, line := range bytes.Split(data[:whole], []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("line %d: %w; put the file aside, or mend the line", n+1, err)
		}
		if r.Schema != RecordSchema || r.Result == nil {
			return fmt.Errorf("line %d: no record of the kind %s; put the file aside, or mend the line", n+1, RecordSchema)
		}
		l.take(r)
	}
	if whole == len(data) {
		return nil
	}
	return errors.Join(l.file.Truncate(int64(whole)), l.file.Sync())
}

func (l *Ledger) take(r Record) {
	l.lines = append(l.lines, r)
	l.byKey[r.Key] = len(l.lines) - 1
	l.last[owner{r.Student, r.Exercise}] = len(l.lines) - 1
}

// Append keeps a record for good.
func (l *Ledger) Append(r Record) error {
	r.Schema = RecordSchema
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("keep a result: %w", err)
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("keep a result: %w", err)
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("keep a result: %w", err)
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

// Last is the newest record of a student's exercise.
func (l *Ledger) Last(student, exercise string) (Record, bool) {
	i, ok := l.last[owner{student, exercise}]
	if !ok {
		return Record{}, false
	}
	return l.lines[i], true
}

// Close lets others write.
func (l *Ledger) Close() error {
	var err error
	if l.file != nil {
		err = l.file.Close()
	}
	return errors.Join(err, l.lock.Unlock())
}
