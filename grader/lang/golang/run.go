package golang

import (
	"fmt"

	"grade/exercises/course"
	"grade/grader/verdict"
	"grade/observe/wire"
	"grade/sandbox"
)

// settings configure the Go runtime of a program.
type settings struct {
	threads int    // that run Go code
	gc      string // GOGC
}

// The settings of runs. A test has enough threads that a missing lock shows; a
// measurement has one. A measurement of CPU time collects garbage only near the memory
// limit: the share of a collection that falls into the window depends on when it
// starts, and made two runs of one program differ by a half. A solution still pays for
// what it allocates, and the memory checks see what it holds.
var (
	forTesting = settings{threads: 4, gc: "100"}
	forMemory  = settings{threads: 1, gc: "100"}
	forSpeed   = settings{threads: 1, gc: "off"}
)

// Smoke runs the program without any test.
func (l *Language) Smoke(e *course.Exercise) sandbox.Request {
	return runRequest(e, "^$", "", forTesting)
}

// Test runs one hidden test.
func (l *Language) Test(e *course.Exercise, c course.Check, seed string) sandbox.Request {
	return runRequest(e, "^"+c.Func+"$", seed, forTesting)
}

// Benchmark runs one hidden benchmark once.
func (l *Language) Benchmark(e *course.Exercise, c course.Check, seed string) sandbox.Request {
	with := forSpeed
	if c.Kind == verdict.Memory {
		with = forMemory
	}
	q := runRequest(e, "^$", seed, with)
	q.Args = append(q.Args, "-test.bench=^"+c.Func+"$", "-test.benchtime=1x")
	return q
}

// runRequest runs the tests whose names match, with the kit's environment.
func runRequest(e *course.Exercise, tests, seed string, with settings) sandbox.Request {
	l := e.Limits
	return sandbox.Request{
		Args: []string{"-test.run=" + tests, "-test.count=1"},
		Env: []string{
			"GRADE_OBSERVE=v1", "GRADE_SEED=" + seed, "HOME=/nonexistent", "GOTRACEBACK=none",
			"GODEBUG=", "GOGC=" + with.gc,
			fmt.Sprintf("GOMAXPROCS=%d", with.threads), fmt.Sprintf("GOMEMLIMIT=%d", l.Memory/10*9),
		},
		Limits: sandbox.Limits{
			Wall: l.Wall, CPU: l.CPU, Memory: l.Memory, Stdout: l.Output, Stderr: l.Output, Observations: wire.MaxSize,
		},
	}
}
