package golang

import (
	"fmt"
	"time"

	"grade/exercises/course"
	"grade/observe/wire"
	"grade/sandbox"
)

// settings configure the Go runtime of a program.
type settings struct {
	threads int    // that run Go code
	gc      string // GOGC
}

// The settings of runs. A test has enough threads that a missing lock shows; a measurement
// has one. All measurements collect garbage alike: a program that could tell a run that is
// timed from one that is weighed could be fast in the one and slim in the other. A test
// collects it more seldom, because what a collection costs, of a heap of some megabytes with
// four threads on two CPUs, was a third of the time of all tests.
var (
	forTesting   = settings{threads: 4, gc: "400"}
	forMeasuring = settings{threads: 1, gc: "100"}
)

// Smoke runs the program without any test.
func (l *Language) Smoke(e *course.Exercise) sandbox.Request {
	return waiting(runRequest(e, "^$", "", forTesting))
}

// Test runs one hidden test.
func (l *Language) Test(e *course.Exercise, c course.Check, seed string) sandbox.Request {
	return testRequest(e, c.Func, seed)
}

// idle is how long a test may wait; course.Idle tells it.
const idle = 15 * time.Second

// testRequest runs one hidden test.
func testRequest(e *course.Exercise, test, seed string) sandbox.Request {
	return waiting(runRequest(e, "^"+test+"$", seed, forTesting))
}

// waiting is q of a program that may not wait for long: one that waits for ever ends soon, and
// says where it was.
func waiting(q sandbox.Request) sandbox.Request {
	q.Limits.Idle, q.Dump = idle, true
	return q
}

// Benchmark runs one hidden benchmark once.
func (l *Language) Benchmark(e *course.Exercise, c course.Check, seed string) sandbox.Request {
	q := waiting(runRequest(e, "^$", seed, forMeasuring))
	q.Args = append(q.Args, "-test.bench=^"+c.Func+"$", "-test.benchtime=1x")
	return q
}

// runRequest runs the tests whose names match, with the kit's environment.
func runRequest(e *course.Exercise, tests, seed string, with settings) sandbox.Request {
	l := e.Limits
	return sandbox.Request{
		Args: []string{"-test.run=" + tests, "-test.count=1"},
		Env: []string{
			"GRADE_OBSERVE=v1", "GRADE_SEED=" + seed, "HOME=/nonexistent",
			"GOTRACEBACK=single", // the goroutine that crashed, or all in a deadlock: CrashPlaces reads them
			"GODEBUG=", "GOGC=" + with.gc,
			fmt.Sprintf("GOMAXPROCS=%d", with.threads), fmt.Sprintf("GOMEMLIMIT=%d", l.Memory/10*9),
			fmt.Sprintf("GRADE_STACK=%d", l.Memory/2), // a stack grows by a copy of twice the size: one above this needs more than there is
		},
		Limits: sandbox.Limits{
			Wall: l.Wall, CPU: l.CPU, Memory: l.Memory, Stdout: l.Output, Stderr: l.Output, Observations: wire.MaxSize,
		},
	}
}
