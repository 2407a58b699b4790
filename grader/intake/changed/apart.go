package changed

import (
	"cmp"
	"fmt"

	"grade/grader/fault"
	"grade/grader/intake"
)

// Own is a file or folder of the course's.
type Own struct {
	Name string // what errors call it
	Path string // empty: there is none
}

// Apart makes sure that what is the course's does not lie in a checkout whose author could
// have written it. Outside a CI, and where the commit is one of the default branch, its
// author is the course's own.
func (c Clone) Apart(ours ...Own) error {
	if c.Run.Name == "" || c.Run.Trusted {
		return nil
	}
	for _, own := range ours {
		if own.Path == "" {
			continue
		}
		if rel, ok := intake.Below(intake.Resolved(c.Repo.Top()), intake.Resolved(own.Path)); ok {
			return &fault.Error{
				Message: fmt.Sprintf("%s %s lies in the checkout that is graded, as %s: its author could have written it", own.Name, own.Path, rel),
				Advice:  "check out what is yours into another folder than what is to be graded",
			}
		}
	}
	return nil
}

// LinkTo returns a link that the checkout brought along and that a file would be written
// through; empty: there is none.
func (c Clone) LinkTo(file string) string {
	return cmp.Or(intake.LinkOnTheWay(c.Dir, file), intake.LinkOnTheWay(c.Repo.Top(), file))
}
