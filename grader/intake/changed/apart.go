package changed

import (
	"cmp"
	"fmt"

	"grade/grader/fault"
	"grade/grader/intake"
)

// Own is a file or folder that belongs to the course.
type Own struct {
	Name string // what errors call it
	Path string // empty: there is none
}

// Apart makes sure that no file of the course lies in a checkout whose author could have
// written it. It allows that outside a CI, and for a commit of the default branch, whose
// author the course trusts.
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

// LinkTo returns a link of the checkout that a file would be written through, or "".
func (c Clone) LinkTo(file string) string {
	return cmp.Or(intake.LinkOnTheWay(c.Dir, file), intake.LinkOnTheWay(c.Repo.Top(), file))
}
