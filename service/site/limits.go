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
// address counts only for who is not signed in, and 300 may sign in at once there: each opens
// a link and sends it.
type limits struct {
	strangers *people.Limits // requests of an address without a person
	guesses   *people.Limits // wrong links and codes of an address
	devices   *people.Limits // command lines of an address that ask for a token
	polls     *people.Limits // their questions whether it was approved
	requests  *people.Limits // of a person
	uploads   *people.Limits // of a person
	kept      *people.Limits // of a person, over days: what is kept of a submission stays for good
}

func newLimits(now func() time.Time) limits {
	return limits{
		strangers: people.NewLimits(1000, 100*time.Millisecond, now),
		guesses:   people.NewLimits(20, 6*time.Second, now),
		devices:   people.NewLimits(100, time.Second, now),
		polls:     people.NewLimits(1000, 10*time.Millisecond, now), // 200 that wait ask so often
		requests:  people.NewLimits(200, 100*time.Millisecond, now),
		uploads:   people.NewLimits(60, 2*time.Second, now),
		kept:      people.NewLimits(300, 3*time.Minute, now), // 300 at once, and 480 a day
	}
}

// limited refuses who asks too often.
func (q *request) limited(route Route) error {
	switch {
	case route.polled():
		return tooMany(q.limits.polls.Take(q.client()))
	case q.person != nil:
		return tooMany(q.limits.requests.Take(q.person.Login))
	}
	return q.strange()
}

// strange counts a request without a person, and refuses an address with too many.
func (q *request) strange() error {
	wait, ok := q.limits.strangers.Take(q.client())
	if ok {
		return nil
	}
	p := tooManyIn(wait)
	p.plain = !wantsJSON(q.Request)
	return p
}

// guess counts a wrong secret, and refuses who tries too many.
func (q *request) guess() error { return tooMany(q.limits.guesses.Take(q.client())) }

func tooMany(wait time.Duration, ok bool) error {
	if ok {
		return nil
	}
	return tooManyIn(wait)
}

func tooManyIn(wait time.Duration) *Problem {
	n := max(1, int(math.Ceil(wait.Seconds())))
	return &Problem{Status: http.StatusTooManyRequests, Detail: "this is asked too often", Advice: fmt.Sprintf("try again in %d s", n), retry: n}
}

// What a person may have going on at a time.
const (
	maxStreams = 20 // live pages: a connection each
	maxSending = 2  // uploads: up to 16 MiB of memory each
)

// atOnce bounds what each person has going on at a time.
type atOnce struct {
	most int

	mu    sync.Mutex
	going map[string]int
}

func newAtOnce(most int) *atOnce { return &atOnce{most: most, going: map[string]int{}} }

// begin counts one more of a person, until end is called.
func (a *atOnce) begin(who string) (end func(), ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.going[who] >= a.most {
		return nil, false
	}
	a.going[who]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.going[who]--; a.going[who] == 0 {
			delete(a.going, who)
		}
	}, true
}
