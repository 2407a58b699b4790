// Package sandbox defines the types that the grader and every sandbox share:
// requests, limits and outcomes. It runs nothing itself and knows neither
// exercises nor verdicts.
//
// A caller opens a [Box], sends it one [Request] after another and closes it.
// Each Request starts one program in a clean scratch directory and ends when
// every process that the program left behind is dead. A call returns an
// [Outcome] (what the submitted program did) or an error (what went wrong in the
// sandbox), never both.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Purpose says what a box is for, which decides what its image holds.
type Purpose int

// The purposes. The zero value is invalid.
const (
	_         Purpose = iota
	Run               // only the supervisor: programs come over the stream
	Build             // a Go toolchain with a build cache as well
	RaceBuild         // Build, and a cache for programs with the race detector
	RaceRun           // Run, and the C library that such a program loads
)

// Builds reports whether boxes of the purpose have a toolchain.
func (p Purpose) Builds() bool { return p == Build || p == RaceBuild }

// CompilerVersion is what the go command is told of the C compiler's version, wherever
// it builds for the race detector. The version is part of the key of a package in its
// cache, and no box has a C compiler that could tell its own.
const CompilerVersion = "gcc version 1 (grade)"

// CompilerLibrary is the name of the C compiler's own library in the cache of a RaceBuild
// box. Go's linker would ask the compiler where it is.
const CompilerLibrary = "grade-libgcc.a"

// Spec describes one box. Every field but CPUs must be set: an engine takes zero
// for no limit.
type Spec struct {
	Purpose Purpose
	Memory  int64 // bytes for the programs in the box; no swap
	Pids    int   // processes and threads
	Scratch int64 // bytes of the scratch directory, which lie in memory too
	CPUs    []int // CPUs that the box may use; empty: all. A sandbox that cannot confine a box ignores them
}

// Check refuses a spec with a field that is not set.
func (s Spec) Check() error {
	if s.Purpose < Run || s.Purpose > RaceRun || s.Memory <= 0 || s.Pids <= 0 || s.Scratch <= 0 {
		return fmt.Errorf("spec of a box has an unset or invalid field: %+v", s)
	}
	return nil
}

// Dirs are the paths of a box as the programs in it see them.
type Dirs struct {
	Work    string // holds the files of a Request; the program may read it only
	Scratch string // the only place the program may write; wiped after each Request
	GoRoot  string // the toolchain; empty in a Run box
	GoCache string // its build cache, read-only; empty in a Run box
}

// A File travels into a box or out of it.
type File struct {
	Name string // slash-separated, below Dirs.Work going in, below Dirs.Scratch coming out
	Exec bool
	Data []byte
}

// Request asks a box to run one program.
type Request struct {
	// Files are written below Dirs.Work before the program starts. They stay for
	// later Requests; a file sent again replaces the earlier one.
	Files []File
	// Path is the program: absolute, or relative to Dirs.Work. Its working
	// directory is Dirs.Work. Empty: only place the files.
	Path string
	Args []string // without the program's own name
	Env  []string // the whole environment
	// Forks lets the program start other processes. Without Forks, the program
	// can only start threads and cannot change its CPUs.
	Forks bool
	// Dump asks a program whose time is over to say where it is: SIGQUIT, to the thread
	// that is at work, comes a second before the end.
	Dump bool
	// Collect names files below Dirs.Scratch to bring back. A file that is absent,
	// not regular or larger than CollectMax is left out.
	Collect []string
	Limits  Limits
}

// Patience is how many times its limit on wall time a program may take, if all the rest of it
// went by waiting for a CPU.
const Patience = 10

// Limits bound one Request. Every field must be positive, except where it says
// what zero means.
type Limits struct {
	Wall         time.Duration // from start to the death of the program, but for what it waits for a CPU
	CPU          time.Duration // user and system; with Forks, of all that the program starts
	Idle         time.Duration // for which it may wait without computing; 0: as long as Wall
	Memory       int64         // resident bytes; 0: only the box's own limit
	Stdout       int64         // bytes; the first byte above the limit kills the program
	Stderr       int64         // likewise
	Observations int64         // bytes on the observation pipe, likewise; 0: no pipe
	CollectMax   int64         // bytes of each collected file
}

// Cause says why a box ended a program.
type Cause int

// The causes. CauseNone: the program ended by itself.
const (
	CauseNone Cause = iota
	CauseWall
	CauseCPU
	CauseIdle
	CauseMemory
	CauseStdout
	CauseStderr
	CauseObservations
	causes
)

// Valid reports whether c is one of the causes above.
func (c Cause) Valid() bool { return c >= CauseNone && c < causes }

// OfTime reports whether the program's time was over.
func (c Cause) OfTime() bool { return c == CauseWall || c == CauseCPU || c == CauseIdle }

func (c Cause) String() string {
	names := [causes]string{"none", "wall time", "CPU time", "idleness", "memory", "standard output", "standard error", "observations"}
	if !c.Valid() {
		return "invalid"
	}
	return names[c]
}

// A Source says where a figure was read.
type Source int

// The sources. SourceNone: the figure was not read.
const (
	SourceNone     Source = iota
	SourceRusage          // wait4: the program and the children that it waited for
	SourceCgroupV1        // the box's control group, version 1
	SourceCgroupV2        // version 2
	SourceWatchdog        // resident size, polled by the supervisor
	sources
)

// Valid reports whether s is one of the sources above.
func (s Source) Valid() bool { return s >= SourceNone && s < sources }

// OfBox reports whether s is an account of the whole box.
func (s Source) OfBox() bool { return s == SourceCgroupV1 || s == SourceCgroupV2 }

func (s Source) String() string {
	names := [sources]string{"none", "rusage", "cgroup v1", "cgroup v2", "watchdog"}
	if !s.Valid() {
		return "invalid"
	}
	return names[s]
}

// A Mark holds a program's clocks and its size, read from outside at a moment
// that the program chose: it writes a byte on its mark pipe and waits for one
// back.
type Mark struct {
	CPU    time.Duration // of the whole process since its start
	Wall   time.Duration // since its start
	Memory int64         // bytes that it holds, as in Outcome.Peak
}

// MaxMarks limits the marks that an Outcome records. Further requests for a mark
// are answered, but not recorded.
const MaxMarks = 64

// Outcome describes what a program did, and what it used.
type Outcome struct {
	ExitCode int   // meaningful when Signal is 0
	Signal   int   // the signal that ended it, or 0
	Cause    Cause // why the box ended it, if it did

	Wall time.Duration
	CPU  time.Duration // from wait4: the process and all it waited for; more, if a limit's watch saw more
	// BoxCPU is the CPU time of everything in the box but the supervisor, orphaned
	// children included.
	BoxCPU       time.Duration
	BoxCPUSource Source

	// Peak is the most memory that the program held, wherever it lies, in bytes: its
	// resident size and what it kept in scratch, or in the kernel's buffers.
	Peak          int64
	PeakSource    Source
	BoxPeak       int64 // bytes, of the whole box since it was opened
	BoxPeakSource Source

	OOMKills   int // by the kernel, in this box, during this Request
	OOMSource  Source
	PidsHit    int // times a process or thread was refused meanwhile
	PidsSource Source

	Marks        []Mark
	Stdout       []byte // at most Limits.Stdout
	Stderr       []byte
	Observations []byte
	StdoutCut    bool // there was more
	StderrCut    bool
	ObserveCut   bool
	Files        []File
}

// Box is one isolated place to run programs. It serves one Request at a time.
type Box interface {
	// Dirs says where things are inside.
	Dirs() Dirs
	// CPUs lists the CPUs that the box may use, read back from inside.
	CPUs() []int
	// Run serves one Request.
	Run(ctx context.Context, r Request) (Outcome, error)
	// Pin moves the box to one CPU and verifies that from inside.
	Pin(ctx context.Context, cpu int) error
	// Close ends everything in the box and removes it. It may return before
	// the removal is done; the sandbox's own Close waits.
	Close() error
}

// Info describes a sandbox in a report.
type Info struct {
	Kind     string // "docker" or "process"
	Official bool   // whether a grade from it counts
	Runtime  string // OCI runtime, "runc" unless set otherwise
	Image    string // what programs run in
	Build    string // what they are built in
	Cgroup   string // "v1", "v2" or ""
	GoArch   string // what to build for
}

// ErrUnavailable reports that this machine has no sandbox of the requested kind.
var ErrUnavailable = errors.New("sandbox not available")

// ErrNoRace reports that this machine cannot make programs with the race detector; the
// error's text says why.
var ErrNoRace = errors.New("the race detector cannot be had here")

// ErrGone reports that a box has ended, for instance because the kernel killed
// all of it for its memory. A new box can be opened.
var ErrGone = errors.New("the box is gone")

// ErrFailed reports that a box is there and could not serve a request: its disk was full, a
// program could not be started, or no answer came. Another box may.
var ErrFailed = errors.New("the box has failed")
