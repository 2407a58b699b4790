package progress

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"grade/grader/batch"
)

func TestOfBatch(t *testing.T) {
	two := []batch.Grading{{Student: "ada", Exercise: "cosine"}, {Student: "bo/late", Exercise: "loader"}}
	for want, e := range map[string]batch.Event{
		"0 of 9, ada cosine, bo/late loader":                    {Total: 9, Grading: two},
		"3 of 9, about 4 min left, ada cosine, bo/late loader":  {Done: 3, Total: 9, Grading: two, Left: 250 * time.Second},
		"8 of 9, some seconds left, ada cosine, bo/late loader": {Done: 8, Total: 9, Grading: two, Left: time.Second},
		"": {Done: 9, Total: 9},
	} {
		assert.Equal(t, want, OfBatch(e))
	}
	for want, d := range map[string]time.Duration{
		"some seconds": 9 * time.Second, "about 10 s": 12 * time.Second, "about 90 s": 94 * time.Second, "about 2 min": 110 * time.Second,
		"about 99 min": 99 * time.Minute, "about 2 h": 101 * time.Minute,
	} {
		assert.Equal(t, want, roughly(d))
	}
}

// What a terminal shows of a batch, and that nothing is left of it at the end.
func TestProgressOfABatch(t *testing.T) {
	w := watch(60)
	w.Work(OfBatch(batch.Event{Done: 3, Total: 9, Grading: []batch.Grading{{Student: "ada", Exercise: "cosine"}}, Left: time.Minute}), 0, 0)
	assert.Equal(t, []string{"⠋ 3 of 9, about 60 s left, ada cosine  0.0 s"}, w.shown())
	w.Work(OfBatch(batch.Event{Done: 9, Total: 9}), 0, 0)
	assert.Equal(t, []string{"⠋ grading  0.0 s"}, w.shown())
}
