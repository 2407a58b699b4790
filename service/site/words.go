package site

import (
	"fmt"
	"strings"
	"time"

	"grade/grader/gradebook"
	"grade/service"
)

// longWait is the unit of what is said in days.
const longWait = 24 * time.Hour

// inAbout says a duration roughly, as one tells the time.
func inAbout(d time.Duration) string {
	switch {
	case d < 0:
		return "not known"
	case d < time.Second/2:
		return "less than a second"
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", max(1, int(d.Round(time.Second)/time.Second)))
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute)/time.Minute))
	case d < 2*longWait:
		return fmt.Sprintf("%d h", int(d.Round(time.Hour)/time.Hour))
	}
	return fmt.Sprintf("%d days", int(d/longWait))
}

// stageWords says where an attempt stands, to its student.
func stageWords(a service.Attempt) string {
	switch a.Stage {
	case service.Waiting:
		return "waiting: " + placeWords(a.Ahead)
	case service.Grading:
		return "being graded"
	case service.Graded:
		return "graded"
	case service.Replaced:
		return "replaced by a later attempt before its turn came; it is kept, and not graded"
	}
	if a.Told != "" {
		return "no verdict: " + a.Told
	}
	return "no verdict yet: the grader failed, not your submission; it is kept, and your teacher sees it"
}

// placeWords says a place in the queue by how many submissions are ahead of it.
func placeWords(ahead int) string {
	switch ahead {
	case 0:
		return "next in the queue"
	case 1:
		return "1 submission is ahead of it"
	}
	return fmt.Sprintf("%d submissions are ahead of it", ahead)
}

// dueWords says how far a time is from now.
func dueWords(due, now time.Time) string {
	if due.IsZero() {
		return ""
	}
	if left := due.Sub(now); left >= 0 {
		return "in " + inAbout(left)
	}
	return inAbout(now.Sub(due)) + " ago"
}

// noticeOf tells a student what the rules of the course do to an attempt, right when it is
// handed in: it is graded in any case, so that nothing is lost. It is the nth of the attempts
// that use up those which count, see [nth].
func noticeOf(p *gradebook.Policy, a service.Attempt, nth int) string {
	rules, _ := p.RulesOf(a.Exercise)
	if rules.Attempts > 0 && nth > rules.Attempts {
		return fmt.Sprintf("The course counts %s, and this is attempt %d: it is graded, so that you learn from it, and does not count.", firstAttempts(rules.Attempts), a.Number)
	}
	counts := p.CountsAt(a.Student, a.Exercise, a.Submitted)
	if counts == 100 {
		return ""
	}
	due, _ := p.DueFor(a.Student, rules)
	late := "It was handed in " + inAbout(a.Submitted.Sub(due)) + " after it was due"
	if counts == 0 {
		return late + ": it is graded, so that you learn from it, and does not count. If you have an extension, tell your teacher."
	}
	return late + fmt.Sprintf(": the course takes points off for that (%g %%%s).", rules.Late.Deduct, per(rules.Late.Per))
}

// firstAttempts names those that may count, where not all do.
func firstAttempts(limit int) string {
	if limit == 1 {
		return "only the first attempt"
	}
	return fmt.Sprintf("the first %d attempts", limit)
}

// nth is which of a student's attempts one is, of those that use up the attempts that may
// count, as the gradebook has it: those that are graded, and those that are going to be.
func nth(list []service.Attempt, number int) (n int) {
	for _, a := range list {
		if a.Number <= number && a.Stage != service.Replaced && a.Stage != service.NoVerdict {
			n++
		}
	}
	return n
}

// noticesOf adds to [noticeOf] that the attempt was graded anew, and what that has changed.
func noticesOf(p *gradebook.Policy, a service.Attempt, nth int) string {
	notice := noticeOf(p, a, nth)
	if a.Before == nil {
		return notice
	}
	anew := fmt.Sprintf("It was graded anew on %s, because the exercise or the grader has changed: ", a.Record.Recorded.In(p.Zone).Format("2 Jan 2006"))
	if was, now := a.Before.Result.Score, a.Record.Result.Score; was == now {
		anew += fmt.Sprintf("%d points as before.", now)
	} else {
		anew += fmt.Sprintf("%d points now, %d before.", now, was)
	}
	return strings.TrimSpace(notice + " " + anew)
}

func per(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return " for each " + inAbout(d) + " that has begun"
}
