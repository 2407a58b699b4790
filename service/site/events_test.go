package site

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// When a student is told of a check says nothing of when it was decided, but for the pace.
func TestChecksAreToldAtAPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, decided := range []time.Duration{time.Millisecond, 900 * time.Millisecond, 1999 * time.Millisecond} {
			time.Sleep(time.Until(time.Now().Truncate(checkPace).Add(checkPace + decided)))
			p := paced{pace: checkPace}
			first, second, over := &news{Check: &checkNews{Name: "a"}}, &news{Check: &checkNews{Name: "b"}}, &news{}
			assert.Empty(t, p.after(first))
			assert.Empty(t, p.after(second))
			<-p.due
			assert.Zero(t, time.Now().UnixNano()%int64(checkPace), "decided at %v", decided)
			assert.Equal(t, []*news{first, second}, p.take())
			assert.Empty(t, p.after(first))
			assert.Equal(t, []*news{first, over}, p.after(over), "what a phase has come to is told with its end")
			assert.Nil(t, p.due)
		}
	})
}
