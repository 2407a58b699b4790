package people

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound how often each of many may do something: a person, or an address.
type Limits struct {
	every time.Duration // a place becomes free so often
	burst int           // places
	now   func() time.Time

	mu    sync.Mutex // guards what follows
	of    map[string]*rate.Limiter
	swept time.Time
}

// NewLimits lets each do something burst times at once, and then once every so often.
func NewLimits(burst int, every time.Duration, now func() time.Time) *Limits {
	return &Limits{every: every, burst: burst, now: now, of: map[string]*rate.Limiter{}, swept: now()}
}

// Take takes a place; if there is none, ok is false and wait says when there will be one.
func (l *Limits) Take(who string) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.sweep(now)
	limiter := l.of[who]
	if limiter == nil {
		limiter = rate.NewLimiter(rate.Every(l.every), l.burst)
		l.of[who] = limiter
	}
	if limiter.AllowN(now, 1) {
		return 0, true
	}
	missing := 1 - limiter.TokensAt(now)
	return time.Duration(missing * float64(l.every)), false
}

// sweep forgets those who have all their places back, so that a flood of addresses does
// not fill the memory.
func (l *Limits) sweep(now time.Time) {
	if now.Sub(l.swept) < time.Duration(l.burst)*l.every {
		return
	}
	l.swept = now
	for who, limiter := range l.of {
		if limiter.TokensAt(now) >= float64(l.burst) {
			delete(l.of, who)
		}
	}
}
