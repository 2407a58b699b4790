package engine

import (
	"time"

	"grade/service"
)

// paceOf is of how many gradings the mean is taken: enough for a mean, few enough to follow
// when another exercise is due.
const paceOf = 50

// pace is how long the last gradings took.
type pace struct{ last []time.Duration }

func (p *pace) took(d time.Duration) {
	if p.last = append(p.last, d); len(p.last) > paceOf {
		p.last = p.last[1:]
	}
}

func (p *pace) mean() time.Duration {
	sum := time.Duration(0)
	for _, d := range p.last {
		sum += d
	}
	return sum / time.Duration(len(p.last))
}

// wait estimates how long one waits for a worker who has q.Waiting before them. With every place taken, the next
// one of n places becomes free after a mean grading / (n+1), as of times that are spread
// evenly; from then on one becomes free every mean / n.
func (p *pace) wait(q service.Queue) time.Duration {
	slots := 0
	for _, w := range q.Workers {
		if w.Takes() {
			slots += w.Slots
		}
	}
	switch {
	case slots == 0:
		return -1
	case q.Waiting == 0 && q.Grading < slots:
		return 0
	case len(p.last) == 0:
		return -1
	}
	return p.mean()/time.Duration(slots+1) + p.mean()*time.Duration(q.Waiting)/time.Duration(slots)
}
