package worker

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"grade/service"
)

// A worker rests when different jobs fail there one after another, the longer the more, and not
// over one job that fails each time.
func TestAiling(t *testing.T) {
	const pause = 5 * time.Second
	var a ailing
	now := time.Now()
	full := errors.New("no space left on device")
	fail := func(number int) {
		a.failed(service.JobID{Student: "ada", Number: number, Since: now}, full, now, pause)
	}
	for range 3 {
		fail(1)
		assert.Empty(t, a.why(now), "the job may be at fault")
		now = now.Add(time.Millisecond)
	}
	for i, rest := range []time.Duration{pause, 2 * pause, 4 * pause, 8 * pause, longestRest, longestRest} {
		fail(2 + i)
		assert.Contains(t, a.why(now), "no space left on device")
		assert.NotEmpty(t, a.why(now.Add(rest-1)))
		assert.Empty(t, a.why(now.Add(rest)), "after %d", 2+i)
	}
	a = ailing{}
	fail(9)
	assert.Empty(t, a.why(now), "one was graded in between")
}
