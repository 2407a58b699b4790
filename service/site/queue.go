package site

import (
	"strconv"
	"time"

	"grade/service"
)

// queueView is the queue, and who works on it.
type queueView struct {
	Waiting   int             `json:"waiting"`
	Grading   int             `json:"grading"`
	Oldest    time.Time       `json:"oldest,omitzero"`
	Wait      *float64        `json:"wait_seconds"` // of a newcomer; nil: not known
	WaitText  string          `json:"-"`
	OldestAge string          `json:"-"`
	Refuses   string          `json:"refuses,omitempty"` // why no submission is taken now
	Differ    bool            `json:"workers_differ"`    // see [service.Queue]
	Workers   []workerView    `json:"workers"`
	NoVerdict []noVerdictView `json:"no_verdict"`
}

type (
	workerView struct {
		service.WorkerState
		Takes bool   `json:"takes_jobs"`
		Ago   string `json:"-"`
	}
	noVerdictView struct {
		Student  string    `json:"student"`
		Exercise string    `json:"exercise"`
		Why      string    `json:"why"`
		Since    time.Time `json:"since"`
		Address  string    `json:"address"`
	}
)

func (q *request) queuePage() error {
	now, queue := q.Now(), q.Engine.Queue()
	v := queueView{Waiting: queue.Waiting, Grading: queue.Grading, Oldest: queue.Oldest, Differ: queue.Differ(), WaitText: inAbout(queue.Wait), Workers: []workerView{}}
	for _, err := range q.failing() {
		v.Refuses = err.Error()
	}
	if queue.Wait >= 0 {
		v.Wait = new(queue.Wait.Seconds())
	}
	if !queue.Oldest.IsZero() {
		v.OldestAge = inAbout(max(0, now.Sub(queue.Oldest)))
	}
	for _, w := range queue.Workers {
		v.Workers = append(v.Workers, workerView{w, w.Takes(), inAbout(max(0, now.Sub(w.Heard)))})
	}
	v.NoVerdict = q.noVerdict()
	return q.show("queue", v)
}

// noVerdict lists the attempts that staff can have graded again: one at an exercise that the
// course no longer has cannot be graded, and has no page.
func (q *request) noVerdict() []noVerdictView {
	list := []noVerdictView{}
	for _, a := range q.Engine.NoVerdict() {
		if _, ok := q.course().exercise(a.Exercise); ok {
			address := attemptsOf(a.Student, a.Exercise) + strconv.Itoa(a.Number)
			list = append(list, noVerdictView{a.Student, a.Exercise, a.Why, a.Submitted, address})
		}
	}
	return list
}
