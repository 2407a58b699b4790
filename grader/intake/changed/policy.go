package changed

import (
	"cmp"
	"context"
	"fmt"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/gradebook"
)

// Policy reads the rules of the course where the author of what is graded cannot write: of
// the revisions that the run trusts, the first that is in the clone counts. Outside a CI it
// is the base, or what is checked out: the person at the keyboard has written that. From
// says in words where the rules come from. A clone without any of these revisions is a
// [fault.Error]: grading without deadlines would be no better than grading by a
// student's.
func (c Clone) Policy(ctx context.Context, exercises []string) (p *gradebook.Policy, from string, err error) {
	candidates := c.Run.Rules
	if c.Run.Name == "" {
		candidates = []string{cmp.Or(c.Base, "HEAD")}
	}
	for _, revision := range candidates {
		commit, ok, err := c.Repo.Commit(ctx, revision)
		if err != nil {
			return nil, "", err
		}
		if !ok {
			continue
		}
		data, ok, err := c.Repo.ReadFile(ctx, commit, course.PolicyFile)
		if err != nil {
			return nil, "", err
		}
		if !ok {
			return gradebook.NewPolicy(exercises), fmt.Sprintf("none, there is no %s in %s", course.PolicyFile, named(commit, revision)), nil
		}
		p, err := gradebook.ReadPolicy(course.PolicyFile+" of "+revision, data, c.Repo.Files(ctx, commit), exercises)
		return p, course.PolicyFile + " of " + named(commit, revision), err
	}
	return nil, "", &fault.Error{Message: fmt.Sprintf("read the rules of the course: %s has none of %q", c.Dir, candidates)}
}

// named is a commit, and how it was asked for.
func named(commit, revision string) string {
	if commit == revision {
		return commit
	}
	return commit + ", which is " + revision
}
