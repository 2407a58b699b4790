package site

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"grade/grader"
	"grade/grader/report/wording"
	"grade/service"
)

// DefaultKeepAlive is how often a stream says that it is there, so that a proxy does not cut
// it off, and looks whether its reader is still signed in.
const DefaultKeepAlive = 15 * time.Second

// checkPace is how often a student is told of checks. The moment at which a hidden test ends is a
// clock that the submission can set by what it was given: at this pace it says no more than
// reports do. What a phase comes to, and the verdict, are told at once.
const checkPace = 2 * time.Second

// news is one event of a stream, for a page and for a command line.
type news struct {
	Stage service.Stage `json:"stage"`
	Ahead int           `json:"ahead"`
	Words string        `json:"words"` // of the stage, for people
	Event *grader.Event `json:"event,omitempty"`
	Check *checkNews    `json:"check,omitempty"` // of the event, in words
	Doing string        `json:"doing,omitempty"` // of the event's phase, in words
}

type checkNews struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	Points  string `json:"points"`
	Earns   bool   `json:"earns"`
}

// doing says what a phase does.
var doing = map[grader.Phase]string{
	grader.Vet: "checking the source", grader.Build: "building", grader.Start: "starting the sandbox",
	grader.Test: "testing", grader.Race: "looking for data races", grader.Measure: "measuring",
}

func (q *request) events() error   { return q.stream(q.person.Login, checkPace) }
func (q *request) eventsOf() error { return q.stream(q.PathValue("student"), 0) }

// stream sends what becomes of an attempt as server-sent events, checks at a pace, until it is
// graded, or the reader leaves or is signed out. The first event says where it stands.
func (q *request) stream(student string, pace time.Duration) error {
	e, a, err := q.attempt(student)
	if err != nil {
		return err
	}
	end, ok := q.streams.begin(q.person.Login)
	if !ok {
		return tooMany(time.Minute, false)
	}
	defer end()
	q.metrics.streams.Inc()
	defer q.metrics.streams.Dec()
	control := http.NewResponseController(q.w)
	_ = control.SetReadDeadline(time.Time{}) // a reader sends nothing more
	q.w.Header().Set("Content-Type", "text/event-stream")
	q.w.Header().Set("X-Accel-Buffering", "no")
	alive := time.NewTicker(q.KeepAlive)
	defer alive.Stop()
	following := q.Engine.Follow(q.Context(), student, e.Name)
	checks := paced{pace: pace}
	for due := []*news{q.standing(student, a)}; ; {
		for _, n := range due {
			if err := q.tell(control, n); err != nil || n != nil && n.over() {
				return nil // the reader has left, or knows all
			}
		}
		select {
		case <-q.Context().Done():
			return nil
		case <-alive.C:
			if _, refused, _ := q.asking(); refused != nil { // a store that does not answer refuses no one
				return nil
			}
			due = []*news{nil}
		case <-checks.due:
			due = checks.take()
		case p, open := <-following:
			if !open {
				return nil
			}
			if due = nil; p.Event == nil || p.Number == a.Number { // when another attempt's checks end is no news here
				due = checks.after(q.newsOf(student, a, p))
			}
		}
	}
}

// paced holds news of checks back until the clock comes to a multiple of pace, which does not depend
// on when they came, or other news says that their phase is over.
type paced struct {
	pace time.Duration // 0: at once
	held []*news
	due  <-chan time.Time // nil while nothing is held
}

// after returns the news to be told now that n has come.
func (p *paced) after(n *news) []*news {
	if n.Check == nil {
		return append(p.take(), n)
	}
	if p.held = append(p.held, n); p.due == nil {
		now := time.Now()
		p.due = time.After(now.Truncate(p.pace).Add(p.pace).Sub(now))
	}
	return nil
}

func (p *paced) take() (held []*news) {
	held, p.held, p.due = p.held, nil, nil
	return held
}

// over reports whether nothing can come after n.
func (n *news) over() bool { return n.Stage != service.Waiting && n.Stage != service.Grading }

// standing says where an attempt stands now.
func (q *request) standing(student string, a service.Attempt) *news {
	if now, ok := q.Engine.Attempt(student, a.Exercise, a.Number); ok {
		a = now
	}
	return &news{Stage: a.Stage, Ahead: a.Ahead, Words: q.liveWords(a)}
}

// liveWords adds to [stageWords] about how long an attempt waits, where that is known.
func (q *request) liveWords(a service.Attempt) string {
	words := stageWords(a)
	if a.Stage != service.Waiting {
		return words
	}
	switch queue := q.Engine.QueueBehind(a.Ahead); {
	case !queue.Taken():
		return words + "; no worker takes submissions at the moment, which the pages of your course's staff show. It is kept, and graded as soon as one does"
	case queue.Wait >= 0:
		return words + "; a worker takes it in about " + inAbout(queue.Wait)
	}
	return words
}

// newsOf turns progress into news about an attempt. Progress without an event, and that of
// another attempt, only says that something has changed: the engine knows what.
func (q *request) newsOf(student string, a service.Attempt, p service.Progress) *news {
	if p.Number != a.Number || p.Event == nil {
		return q.standing(student, a)
	}
	n := &news{Stage: p.Stage, Words: "being graded", Event: publicEvent(p.Event), Doing: doing[p.Event.Phase]}
	if c := n.Event.Check; c != nil {
		n.Check = &checkNews{wording.Name(c.Name), wording.CheckVerdict(*c), wording.Points(*c), c.Verdict.Earns()}
	}
	return n
}

// tell writes news, or a sign of life.
func (q *request) tell(control *http.ResponseController, n *news) error {
	text := ": still here\n\n"
	if n != nil {
		data, err := json.Marshal(n)
		if err != nil {
			return fmt.Errorf("write news: %w", err)
		}
		text = "data: " + string(data) + "\n\n"
	}
	if _, err := q.w.Write([]byte(text)); err != nil {
		return err
	}
	return control.Flush()
}
