package batch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestLeft(t *testing.T) {
	seconds := func(list ...int) (d []time.Duration) {
		for _, s := range list {
			d = append(d, time.Duration(s)*time.Second)
		}
		return d
	}
	for _, test := range []struct {
		name    string
		pace    pace
		running []time.Duration
		waiting int
		want    int // seconds
	}{
		{"nothing to estimate from", pace{0, 0, 2}, seconds(30, 1), 8, 0},
		{"one at a time", pace{2, 20 * time.Second, 1}, nil, 3, 30},
		{"two at a time", pace{2, 20 * time.Second, 2}, nil, 4, 20},
		{"one runs, which has taken half as long as others", pace{4, 20 * time.Second, 1}, seconds(4), 2, 14},
		{"the first to be over was a short one", pace{1, 2 * time.Second, 3}, seconds(8, 8), 5, 36},
		{"what runs takes longer than others did", pace{9, 9 * time.Second, 2}, seconds(60), 0, 1},
		{"more workers than work", pace{1, 6 * time.Second, 8}, seconds(4), 0, 6},
		{"all through", pace{5, time.Minute, 2}, nil, 0, 0},
	} {
		got := test.pace.left(test.running, test.waiting)
		assert.Equal(t, test.want, int(got.Seconds()), test.name)
	}
}
