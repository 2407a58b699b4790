//go:build !linux

package batch

import (
	"grade/grader/intake"
	"grade/grader/submission"
)

// takeBelow takes the snapshot of a folder or an archive. Only on Linux is a link refused that
// came into its way since it was found.
func takeBelow(found intake.Submission) (*submission.Snapshot, error) { return takeFound(found) }
