package results

import (
	"time"

	"grade/exercises/course"
	"grade/grader/verdict"
)

// RecordSchema names the format of a [Record] as JSON.
const RecordSchema = "grade/record/v1"

// Record is one grading as it is kept. An attempt that is graded anew has several records,
// of which the last one holds.
type Record struct {
	Schema    string          `json:"schema"`
	Key       string          `json:"key"` // see [Key]
	Student   string          `json:"student"`
	Exercise  string          `json:"exercise"`
	Attempt   int             `json:"attempt"` // from 1, of this student's at this exercise
	Submitted time.Time       `json:"submitted,omitzero"`
	Source    string          `json:"submitted_source,omitempty"` // of that time
	Listed    time.Time       `json:"listed,omitzero"`            // by the course's table of times, when this was graded: a table may have one row a student
	ListedIn  string          `json:"listed_in,omitempty"`        // the name of that table
	Content   string          `json:"content"`                    // see [Content]
	Path      string          `json:"path"`
	Folder    string          `json:"folder,omitempty"` // from the root of the submissions' repository
	Recorded  time.Time       `json:"recorded"`
	Worker    string          `json:"worker,omitempty"` // of a service: who graded it
	Host      string          `json:"host,omitempty"`   // and on which machine
	Limits    Limits          `json:"limits"`
	Result    *verdict.Result `json:"result"`
}

// Limits are the limits of each hidden test.
type Limits struct {
	MemoryBytes  int64   `json:"memory_bytes"`
	OutputBytes  int64   `json:"output_bytes"`
	ScratchBytes int64   `json:"scratch_bytes"`
	CPUMs        float64 `json:"cpu_ms"`
	WallMs       float64 `json:"wall_ms"`
}

// LimitsOf converts an exercise's limits to the form in a record.
func LimitsOf(l course.Limits) Limits {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return Limits{l.Memory, l.Output, l.Scratch, ms(l.CPU), ms(l.Wall)}
}
