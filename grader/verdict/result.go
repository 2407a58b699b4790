package verdict

import (
	"slices"
	"time"
)

// Schema names the format of a [Result] as JSON.
const Schema = "grade/result/v1"

// Result is a whole grading. Reports read nothing else, so that a stored result can be
// reported again in another format.
type Result struct {
	Schema        string        `json:"schema"`
	Exercise      string        `json:"exercise"`
	ExerciseHash  string        `json:"exercise_hash"`
	Submission    Submission    `json:"submission"`
	Verdict       Verdict       `json:"verdict"`
	Score         int           `json:"score"`
	MaxScore      int           `json:"max_score"` // of the checks that the grading was asked for
	Checks        []CheckResult `json:"checks"`
	Problems      []Problem     `json:"problems"`
	Seed          string        `json:"seed"` // 64 hexadecimal digits
	Sandbox       SandboxInfo   `json:"sandbox"`
	Toolchain     string        `json:"toolchain"`
	GraderVersion string        `json:"grader_version"`
	Started       time.Time     `json:"started"`
	Phases        Phases        `json:"phases"`
	Warnings      []string      `json:"warnings"`
}

// AllPoints reports whether the submission has every point of the checks of some kinds; of
// all, without kinds.
func (r *Result) AllPoints(only []Kind) bool {
	if r.Verdict != Graded {
		return false
	}
	for _, c := range r.Checks {
		asked := len(only) == 0 || slices.Contains(only, Kind(c.Kind))
		if asked && (!c.Verdict.Earns() || c.Points < c.MaxPoints) {
			return false
		}
	}
	return true
}

// Submission says what was graded.
type Submission struct {
	Dir     string   `json:"dir"`
	Hash    string   `json:"hash"` // SHA-256 over the files taken
	Files   []string `json:"files"`
	Ignored []string `json:"ignored"`
}

// SandboxInfo describes where it was graded.
type SandboxInfo struct {
	Kind     string `json:"kind"`
	Official bool   `json:"official"`
	Runtime  string `json:"runtime"`
	Image    string `json:"image"`
	Cgroup   string `json:"cgroup"`
}

// CheckResult is one line of the verdict.
type CheckResult struct {
	Name      string  `json:"name"`
	Kind      string  `json:"kind"` // one of [Kinds]
	Verdict   Verdict `json:"verdict"`
	Points    int     `json:"points"`
	MaxPoints int     `json:"max_points"`
	Hint      string  `json:"hint"`
	Detail    string  `json:"detail"`
	// Places are lines of the submission's own files: where it crashed, where goroutines
	// wait in a deadlock, or the two accesses of a data race.
	Places []Place `json:"places,omitempty"`
	// Cause names the failed check that explains why this one failed too, where the
	// exercise declares that this one needs it.
	Cause        string `json:"cause,omitempty"`
	SelfReported bool   `json:"self_reported"`
	// Ratio divides the submission's figure by the reference's, for memory and speed;
	// Limit is the highest ratio that passes, Interval the bounds of the true
	// ratio. They are null where nothing was measured.
	Ratio      *float64    `json:"ratio"`
	Limit      *float64    `json:"limit"`
	Interval   *[2]float64 `json:"interval"`
	Reference  Figures     `json:"reference"`
	Submission Figures     `json:"submission"`
}

// Place is a line in one of a submission's files.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Excerpt
}

// Excerpt is the text at a line when it was graded, as the student wrote it: reports escape
// it. It is empty in a result that was stored without it.
type Excerpt struct {
	Source string `json:"source,omitempty"` // the line, cut at 160 bytes
	Before string `json:"before,omitempty"` // up to two lines before it, each with its newline
	After  string `json:"after,omitempty"`  // up to two lines after it, each with its newline
}

// Figures are the measurements of one side of a check.
type Figures struct {
	CPUMs      float64 `json:"cpu_ms"`
	WallMs     float64 `json:"wall_ms"`
	PeakBytes  int64   `json:"peak_bytes"`
	PeakSource string  `json:"peak_source"`
	Runs       int     `json:"runs"`
}

// Phases are wall times in milliseconds. They overlap, so that their sum exceeds the
// total.
type Phases struct {
	SnapshotMs float64 `json:"snapshot_ms"`
	VetMs      float64 `json:"vet_ms"`
	BuildMs    float64 `json:"build_ms"`
	StartMs    float64 `json:"start_ms"`
	TestMs     float64 `json:"test_ms"`
	RaceMs     float64 `json:"race_ms"` // tests under the race detector; their build runs beside the others
	MeasureMs  float64 `json:"measure_ms"`
	TotalMs    float64 `json:"total_ms"`
}

// Milliseconds converts a time to milliseconds, rounded to the microsecond.
func Milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}
