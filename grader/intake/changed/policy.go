package changed

import (
	"cmp"
	"context"
	"fmt"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/gradebook"
)

// Policy reads the rules of the course where the student cannot write: from the first
// revision in the clone that the run trusts. Outside a CI that is the base, or the
// checkout, which the caller controls. From names the source of the rules. A clone without
// any of these revisions is a [fault.Error]: grading without deadlines would be no better
// than grading by a student's rules.
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

// named names a commit and the revision that it was found by.
func named(commit, revision string) string {
	if commit == revision {
		return commit
	}
	return commit + ", which is " + revision
}
