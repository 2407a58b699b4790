package main

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"grade/grader/measure/quantile"
)

// upload is what one student hands in for one exercise, at a time after the start.
type upload struct {
	at                time.Duration
	student, exercise int
}

// wait is how long one upload waited for its turn, and for its verdict.
type wait struct{ turn, verdict time.Duration }

// simulate returns the waits of all uploads that are graded. They must be sorted by time.
//
// The queue is the service's: first come, first served, and one job for each student and
// exercise. A newer upload takes the place of one that waits, at the end of the line; one
// that is being graded is not disturbed.
func simulate(uploads []upload, slots int, grading func() time.Duration) (waits []wait) {
	free := make(times, slots)
	queue := newQueue()
	start := func(until time.Duration) {
		for free[0] <= until {
			next, ok := queue.take()
			if !ok {
				return
			}
			begun := max(free[0], next.at)
			free[0] = begun + grading()
			waits = append(waits, wait{begun - next.at, free[0] - next.at})
			heap.Fix(&free, 0)
		}
	}
	for _, u := range uploads {
		start(u.at)
		queue.add(u)
	}
	start(math.MaxInt64)
	return waits
}

// times is a heap of the times at which slots become free.
type times []time.Duration

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(time.Duration)) }
func (t *times) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

// queue holds the uploads that wait, the first one first.
type queue struct {
	line   []upload
	newest map[[2]int]time.Duration // of each student and exercise, the upload that counts
}

func newQueue() *queue { return &queue{newest: map[[2]int]time.Duration{}} }

func (u upload) key() [2]int { return [2]int{u.student, u.exercise} }

func (q *queue) add(u upload) {
	q.line = append(q.line, u)
	q.newest[u.key()] = u.at
}

// take removes and returns the first upload that no newer one has replaced.
func (q *queue) take() (u upload, ok bool) {
	for len(q.line) > 0 {
		u, q.line = q.line[0], q.line[1:]
		if q.newest[u.key()] == u.at {
			delete(q.newest, u.key())
			return u, true
		}
	}
	return u, false
}

// rush draws the uploads before a deadline. How long before it one comes is exponential: half
// of all come in the last time that half says, half of the rest in as long a time before.
func rush(r *rand.Rand, students int, o options) (uploads []upload) {
	mean := float64(o.half) / math.Ln2
	var last time.Duration
	for student := range students {
		for exercise := range o.exercises {
			for range o.uploads {
				before := time.Duration(r.ExpFloat64() * mean)
				uploads = append(uploads, upload{-before, student, exercise})
				last = max(last, before)
			}
		}
	}
	for i := range uploads {
		uploads[i].at += last
	}
	slices.SortFunc(uploads, func(a, b upload) int { return int(a.at - b.at) })
	return uploads
}

// share is the median and the 95th percentile of some times.
type share struct{ median, p95 time.Duration }

// shareOf sorts the list.
func shareOf(list []time.Duration) share {
	slices.Sort(list)
	return share{quantile.Median(list), quantile.Of(list, 0.95)}
}

// shares are of the waits for a turn and for a verdict.
func shares(waits []wait) (turn, verdict share) {
	var turns, verdicts []time.Duration
	for _, w := range waits {
		turns, verdicts = append(turns, w.turn), append(verdicts, w.verdict)
	}
	return shareOf(turns), shareOf(verdicts)
}

// resample draws from a list.
func resample(r *rand.Rand, list []time.Duration) func() time.Duration {
	return func() time.Duration { return list[r.IntN(len(list))] }
}
