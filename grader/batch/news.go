package batch

import (
	"slices"
	"sync"
	"time"
)

// Event is how far a batch is.
type Event struct {
	Done, Total int           // submissions
	Grading     []Grading     // on their way, in the order they began
	Left        time.Duration // an estimate; 0: there is nothing to estimate from
}

// Grading is one that is on its way.
type Grading struct {
	Student, Exercise string
	Since             time.Time
}

// news is what a run tells of itself.
type news struct {
	options Options
	total   int

	mu      sync.Mutex // guards what follows
	done    int
	grading []Grading
	pace    pace
}

func newNews(o Options, total int) *news {
	return &news{options: o, total: total, pace: pace{workers: max(1, o.Workers)}}
}

// begin tells that a grading begins. Call end when it is over.
func (n *news) begin(student, exercise string) (end func(error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	g := Grading{Student: student, Exercise: exercise, Since: n.options.Now()}
	n.grading = append(n.grading, g)
	n.tell()
	return func(err error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		i := slices.Index(n.grading, g)
		n.grading = slices.Delete(n.grading, i, i+1)
		if err == nil { // one that failed may have failed at once
			n.pace.graded++
			n.pace.spent += n.options.Now().Sub(g.Since)
		}
	}
}

// through tells that a submission is.
func (n *news) through() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.done++
	n.tell()
}

// tell is called with n.mu held.
func (n *news) tell() {
	if n.options.OnEvent == nil {
		return
	}
	now := n.options.Now()
	var running []time.Duration
	for _, g := range n.grading {
		running = append(running, now.Sub(g.Since))
	}
	left := n.pace.left(running, n.total-n.done-len(running))
	n.options.OnEvent(Event{Done: n.done, Total: n.total, Grading: slices.Clone(n.grading), Left: left})
}
