package batch

import (
	"slices"
	"sync"
	"time"
)

// Event is the progress of a batch.
type Event struct {
	Done, Total int           // submissions
	Grading     []Grading     // on their way, in the order they began
	Left        time.Duration // an estimate; 0: there is nothing to estimate from
	Through     *Item         // the submission that is done now; nil: none is
}

// Grading is a grading that has begun and not ended.
type Grading struct {
	Student, Exercise string
	Since             time.Time
}

// progress counts the finished submissions of a run, and reports them.
type progress struct {
	options Options
	total   int

	mu      sync.Mutex // guards what follows
	done    int
	grading []Grading
	pace    pace
}

func newProgress(o Options, total int) *progress {
	return &progress{options: o, total: total, pace: pace{workers: max(1, o.Workers)}}
}

// begin reports that a grading begins. The caller calls end when it is over.
func (p *progress) begin(student, exercise string) (end func(error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := Grading{Student: student, Exercise: exercise, Since: p.options.Now()}
	p.grading = append(p.grading, g)
	p.tell(nil)
	return func(err error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		i := slices.Index(p.grading, g)
		p.grading = slices.Delete(p.grading, i, i+1)
		if err == nil { // a failure may be instant, and says nothing about the pace
			p.pace.graded++
			p.pace.spent += p.options.Now().Sub(g.Since)
		}
	}
}

// through reports that one more submission is done; nil: its outcome is not told.
func (p *progress) through(i *Item) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.tell(i)
}

// tell sends an event. The caller holds p.mu.
func (p *progress) tell(through *Item) {
	if p.options.OnEvent == nil {
		return
	}
	now := p.options.Now()
	var running []time.Duration
	for _, g := range p.grading {
		running = append(running, now.Sub(g.Since))
	}
	left := p.pace.left(running, p.total-p.done-len(running))
	p.options.OnEvent(Event{Done: p.done, Total: p.total, Grading: slices.Clone(p.grading), Left: left, Through: through})
}
