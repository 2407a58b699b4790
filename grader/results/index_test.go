package results

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Of each attempt the newest record holds, at the place of the first.
func TestHolding(t *testing.T) {
	var x Index
	for _, r := range []Record{{Student: "ada", Attempt: 1, Key: "a"}, {Student: "bo", Attempt: 1, Key: "b"}, {Student: "ada", Attempt: 1, Key: "c"}, {Student: "ada", Attempt: 2, Key: "d"}} {
		x.Add(r)
	}
	var keys string
	for _, r := range Holding(x.All()) {
		keys += r.Key
	}
	assert.Equal(t, "cbd", keys)
}
