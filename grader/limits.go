package grader

import (
	"fmt"

	"grade/exercises/course"
	"grade/grader/measure"
	"grade/grader/submission"
	"grade/observe/wire"
)

// Limits are all limits that can end a grading or a run of it, besides those of a build, as
// a list in Markdown.
func Limits(e *course.Exercise) []string {
	return []string{
		fmt.Sprintf("A submission has %d Go files at most, each of %d KiB and together of %d KiB.", submission.MaxFiles, submission.MaxFileSize>>10, submission.MaxTotalSize>>10),
		e.Limits.String(),
		fmt.Sprintf("Where %d times what the reference takes for the same inputs is more, a run may take that much time: a slow machine costs no points.", patience),
		fmt.Sprintf("A run has %d processes and threads, and gives a test %d MiB of values to record, in %d of them.", runPids, wire.MaxSize>>20, wire.MaxRecords),
		fmt.Sprintf("A run whose speed is measured is stopped at %d times what its limit allows, but not before %v of CPU time. The first run of a benchmark that ends so is taken again.", measure.StopAt, measure.LeastCap),
		fmt.Sprintf("All tests of a submission together may take %v and %d times what the reference takes; those after that are not run. With the race detector they may take %v and %d times what the reference takes without.", timeBudget, budgetFactor, timeBudget, patience*course.RaceCPU),
		fmt.Sprintf("All measuring may take %v and %d times what %d runs of each benchmark take the reference. What is undecided then is decided as it is, what has not begun is not run, and the last run has %v more.", timeBudget, budgetFactor, creditedRuns, lastRun),
	}
}
