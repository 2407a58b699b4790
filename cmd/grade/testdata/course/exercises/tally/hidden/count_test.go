package hidden

import (
	"testing"

	"course/reference/tally"
	"grade/observe"
)

// Words are separated by blanks.
func TestCount(t *testing.T) {
	o := observe.New(t)
	o.Int("words", count.Words("a b c"))
}
