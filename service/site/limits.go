package site

import (
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"grade/service/people"
)

// limits bound how often one may ask. A whole class may sit behind one address, so that an
// address counts only for who is not signed in.
type limits struct {
	strangers *people.Limits // requests of an address without a person
	guesses   *people.Limits // wrong links and codes of an address
	devices   *people.Limits // command lines of an address that ask for a token
	requests  *people.Limits // of a person
	uploads   *people.Limits // of a person
}

func newLimits(now func() time.Time) limits {
	return limits{
		strangers: people.NewLimits(300, 100*time.Millisecond, now),
		guesses:   people.NewLimits(20, 6*time.Second, now),
		devices:   people.NewLimits(100, time.Second, now),
		requests:  people.NewLimits(200, 100*time.Millisecond, now),
		uploads:   people.NewLimits(60, 2*time.Second, now),
	}
}

// limited refuses who asks too often.
func (q *request) limited() error {
	if q.person != nil {
		return tooMany(q.limits.requests.Take(q.person.Login))
	}
	return tooMany(q.limits.strangers.Take(q.client()))
}

// guess counts a wrong secret, and refuses who tries too many.
func (q *request) guess() error { return tooMany(q.limits.guesses.Take(q.client())) }

func tooMany(wait time.Duration, ok bool) error {
	if ok {
		return nil
	}
	n := max(1, int(math.Ceil(wait.Seconds())))
	return &Problem{Status: http.StatusTooManyRequests, Detail: "this is asked too often", Advice: fmt.Sprintf("try again in %d s", n), retry: n}
}

// maxStreams is how many live pages a person may have open: a connection each.
const maxStreams = 20

// streams counts live pages.
type streams struct {
	mu   sync.Mutex
	open map[string]int
}

// begin counts a stream of a person, until end is called.
func (s *streams) begin(who string) (end func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[who] >= maxStreams {
		return nil, false
	}
	s.open[who]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[who]--; s.open[who] == 0 {
			delete(s.open, who)
		}
	}, true
}
