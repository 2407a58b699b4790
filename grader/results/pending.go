package results

import "time"

// PendingSchema names the format of [Pending] as JSON.
const PendingSchema = "grade/waiting/v1"

// Pending is a submission that a run has found and not brought to a verdict. It is kept,
// because the results would otherwise look as if it had never been handed in.
type Pending struct {
	Schema       string    `json:"schema"`
	Student      string    `json:"student"`
	Exercise     string    `json:"exercise"`
	Content      string    `json:"content,omitempty"` // see [Content]; empty: it could not be read
	Path         string    `json:"path"`
	Folder       string    `json:"folder,omitempty"` // from the root of the submissions' repository
	Submitted    time.Time `json:"submitted,omitzero"`
	Source       string    `json:"submitted_source,omitempty"` // of that time
	Recorded     time.Time `json:"recorded"`
	Why          string    `json:"why"`
	PublicReason string    `json:"told,omitempty"` // why, for the student, where the student can mend it
}

// PendingID identifies a pending submission: by student and exercise, or by its path as
// long as the exercise is not known.
type PendingID struct{ Student, Exercise, Path string }

// ID returns the identity of the pending submission.
func (p Pending) ID() PendingID {
	if p.Exercise == "" {
		return PendingID{p.Student, "", p.Path}
	}
	return PendingID{p.Student, p.Exercise, ""}
}

// earlier reports whether the submission is known to be from before a time, which may be
// unknown.
func (p Pending) earlier(at time.Time) bool { return Earlier(p.Submitted, at) }

// Outcome is what a run has found out about one submission, as far as the pending list
// needs it.
type Outcome struct {
	Pending        // what is kept of it if it is pending
	Graded    bool // it has a verdict
	LiesThere bool // it lies in a folder that holds the newest there is
}

// NextPending decides what is pending of a submission after a run, for every store alike:
// was is what was pending before, nil for nothing, and last is the content of the student's
// last attempt. It returns was itself if nothing changes, and nil if nothing is pending.
//
// Content that equals the last attempt has a verdict, even if this run came to none. A run
// about older work leaves newer work pending.
func NextPending(was *Pending, last string, o Outcome) *Pending {
	switch {
	case o.Exercise == "": // it is in no column of a gradebook
		return was
	case !o.Graded && (o.Content == "" || o.Content != last):
		return o.keeping(was)
	case was != nil && (was.Content == o.Content || o.after(was)):
		return nil
	}
	return was
}

// keeping returns the new pending entry, completed by what was known before: the content if
// it cannot be read any more, and the earliest time of one content.
func (o Outcome) keeping(was *Pending) *Pending {
	is := o.Pending
	if was == nil {
		return &is
	}
	if is.Content == "" {
		is.Content = was.Content
	}
	if was.Content == is.Content && was.earlier(is.Submitted) {
		is.Submitted, is.Source = was.Submitted, was.Source
	}
	return &is
}

// after reports whether the submission was, or may have been, handed in after a pending
// one.
func (o Outcome) after(p *Pending) bool {
	return o.LiesThere || p.Submitted.IsZero() || !o.Submitted.IsZero() && !o.Submitted.Before(p.Submitted)
}
