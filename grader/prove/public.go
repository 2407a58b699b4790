package prove

import (
	"context"
	"path"
	"strings"
)

// limited begins the words of package judge about a run that a limit has ended.
const limited = "exceeded its "

// public runs the starter's own tests with the reference: what students are handed must not
// blame a right solution.
func (c *Checking) public(ctx context.Context, _ *Explanations) error {
	r, err := c.shipped.grader.PublicTests(ctx, c.exercise)
	if err != nil || !r.Ran {
		return err
	}
	c.mu.Lock()
	c.report.PublicTests = true
	c.mu.Unlock()
	if r.Failure == "" {
		return nil
	}
	if strings.HasPrefix(r.Failure, limited) {
		f := c.atLimits("the starter's tests, run with the reference: the program " + r.Failure)
		c.find(f.File, f.Line, "%s", f.Message)
		return nil
	}
	dir := path.Join("exercises", c.exercise.Name, "starter")
	said := tail(r.Said)
	file, line, ok := found(reportedAt.FindStringSubmatch(said))
	if !ok {
		file = ""
	}
	c.find(path.Join(dir, file), line, "the starter's tests fail with the reference (%s), so that one of them is wrong:\n%s", r.Failure, said)
	return nil
}
