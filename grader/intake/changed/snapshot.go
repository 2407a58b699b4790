package changed

import (
	"context"
	"errors"
	"fmt"
	"os"

	"grade/grader/fault"
	"grade/grader/intake/repository"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// snapshot takes the snapshot of a submission in a commit.
func (c Clone) snapshot(ctx context.Context, commit, folder string, kind repository.Kind) (*submission.Snapshot, error) {
	if kind != repository.Folder {
		return submission.Refused(folder, "", "no-folder", fmt.Sprintf("%s is a %s; put a folder with the solution in its place", verdict.Printable(folder), kind)), nil
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "grade-ci-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	left, err := c.Repo.Extract(ctx, commit, folder, dir, submission.MaxFileSize, sources())
	if broken := (*repository.Broken)(nil); errors.As(err, &broken) {
		return submission.Refused(folder, verdict.Printable(broken.Name), "git-object", "the commit does not hold this as git would ("+verdict.Printable(broken.Why)+"); commit and push it again"), nil
	}
	if errors.Is(err, repository.ErrTooMany) {
		return submission.Refused(folder, "", "too-many", "the folder holds more names than grade looks at; leave the Go files of the solution and commit that"), nil
	}
	if err != nil {
		return nil, err
	}
	s, err := submission.Take(dir)
	if u := (*fault.Error)(nil); errors.As(err, &u) && u.Told != "" {
		u.Message = folder + ": " + u.Told // the folder that it was read from has gone by then
	}
	if err != nil {
		return nil, err
	}
	s.Dir = folder
	s.Ignored = append(s.Ignored, told(left)...)
	return s, nil
}

// maxTold is how many names that the system cannot have are told: thousands of them would be most
// of a result.
const maxTold = 20

func told(names []string) (list []string) {
	for _, name := range names[:min(len(names), maxTold)] {
		list = append(list, verdict.Printable(name))
	}
	if more := len(names) - maxTold; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return list
}

// sources returns a filter for the files that a snapshot reads: Go files without tests, up
// to the number that it refuses.
func sources() func(string) bool {
	n := 0
	return func(name string) bool {
		if !submission.IsSource(name) {
			return false
		}
		n++
		return n <= submission.MaxFiles
	}
}
