package changed

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"grade/grader/fault"
)

// HintDepth says what to do where the clone lacks history.
const HintDepth = "fetch the whole history: fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 in GitLab CI"

// Span is the range of commits to look at.
type Span struct {
	Head    string
	Base    string // empty: all of head
	Nothing bool   // there is no Head any more
}

func (s Span) String() string {
	switch {
	case s.Nothing:
		return "a branch that was deleted"
	case s.Base == "":
		return "all of commit " + s.Head
	}
	return "what changed from commit " + s.Base + " to commit " + s.Head
}

// Since finds the commit to grade and the one to compare it with. Warnings say where it
// grades more than may have changed. If the clone cannot tell, it returns a [fault.Error]:
// grading everything instead would charge students for what others did.
func (c Clone) Since(ctx context.Context) (Span, []string, error) {
	s := &searcher{Clone: c}
	span, err := s.since(ctx)
	return span, s.warnings, err
}

// searcher looks for commits, and collects warnings.
type searcher struct {
	Clone
	warnings []string
}

func (c *searcher) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

func (c *searcher) since(ctx context.Context) (s Span, err error) {
	if c.Run.Nothing {
		return Span{Nothing: true}, nil
	}
	if s.Head, err = c.commit(ctx, cmp.Or(c.Run.Head, "HEAD"), "the commit to be graded"); err != nil {
		return Span{}, err
	}
	switch {
	case c.Base != "":
		s.Base, err = c.mergeBase(ctx, c.Base, s.Head, true)
	case c.All, c.Run.Everything:
	case c.Run.Name == "":
		return Span{}, refuse("", "this is neither GitHub Actions nor GitLab CI: what is there to be graded?")
	case c.Run.Unclear:
		return Span{}, refuse("", "%s says nothing of what has changed", c.Run.Name)
	case c.Run.Request:
		s.Base, err = c.parted(ctx, s.Head)
	default:
		s.Base, err = c.beforePush(ctx, s.Head)
	}
	return s, err
}

// refuse returns an error that the author of the CI job has to mend.
func refuse(hint, format string, args ...any) error {
	return &fault.Error{Message: fmt.Sprintf(format, args...), Advice: hint}
}

// commit finds a commit that has to exist.
func (c *searcher) commit(ctx context.Context, revision, what string) (string, error) {
	id, ok, err := c.Repo.Commit(ctx, revision)
	if err == nil && !ok {
		err = refuse(HintDepth+", and the commit itself: ref: ${{ github.event.pull_request.head.sha }}", "%s, %s, is not in the clone at %s", what, revision, c.Dir)
	}
	return id, err
}

// mergeBase returns where head and another branch parted. Without such a commit, all of
// head is new. Where they have parted at several commits, strict refuses to choose: compared with
// one of them, a request could bring back what others have changed since, unseen.
func (c *searcher) mergeBase(ctx context.Context, revision, head string, strict bool) (string, error) {
	other, err := c.commit(ctx, revision, "the base")
	if err != nil {
		return "", err
	}
	switch bases, err := c.Repo.MergeBases(ctx, other, head); {
	case err != nil:
		return "", err
	case len(bases) > 1 && strict:
		return "", refuse("merge the target branch into this one, and push again", "%s and %s have parted at %d commits, so that it cannot be told what a merge would change", revision, head, len(bases))
	case len(bases) > 0:
		return bases[0], nil
	}
	if err := c.deep(ctx, "where "+revision+" and "+head+" have parted"); err != nil {
		return "", err
	}
	c.warn("%s and %s have no commit in common: all is graded", revision, head)
	return "", nil
}

// parted returns where a request parted from its target branch. If the request has merged
// that branch since, that is later than its base says.
func (c *searcher) parted(ctx context.Context, head string) (string, error) {
	base, err := c.mergeBase(ctx, c.Run.Base, head, true)
	if err != nil || c.Run.Target == "" {
		return base, err
	}
	if _, ok, err := c.Repo.Commit(ctx, c.Run.Target); err != nil || !ok {
		return base, err
	}
	later, err := c.mergeBase(ctx, c.Run.Target, head, true)
	if err != nil || later == "" || later == head { // the run is repeated, and the request was merged meanwhile
		return base, err
	}
	if base == "" {
		return later, nil
	}
	if first, err := c.Repo.MergeBases(ctx, base, later); err != nil || !slices.Equal(first, []string{base}) {
		return base, err
	}
	return later, nil
}

// beforePush returns the state of a branch before a push. A new branch is compared with the
// default one, and so is a branch whose old commit a forced push has removed.
func (c *searcher) beforePush(ctx context.Context, head string) (string, error) {
	if c.Run.Base != "" {
		id, ok, err := c.Repo.Commit(ctx, c.Run.Base)
		if err != nil || ok {
			return id, err
		}
		if err := c.deep(ctx, "the commit before the push, "+c.Run.Base+","); err != nil {
			return "", err
		}
		c.warn("the commit before the push, %s, is gone, as after a forced push: more than it has changed may be graded", c.Run.Base)
	}
	if c.Run.Fallback == "" {
		return "", nil
	}
	if _, ok, err := c.Repo.Commit(ctx, c.Run.Fallback); err != nil || !ok {
		if err == nil {
			err = c.deep(ctx, c.Run.Fallback)
		}
		c.warn("the clone has no %s: all is graded", c.Run.Fallback)
		return "", err
	}
	return c.mergeBase(ctx, c.Run.Fallback, head, false)
}

// deep returns the error about history that the clone lacks.
func (c *searcher) deep(ctx context.Context, what string) error {
	shallow, err := c.Repo.Shallow(ctx)
	if err == nil && shallow {
		err = refuse(HintDepth, "the clone at %s is shallow: %s is not in it", c.Dir, what)
	}
	return err
}
