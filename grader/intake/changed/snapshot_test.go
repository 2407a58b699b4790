package changed

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A commit may hold thousands of names that no disk can have.
func TestTold(t *testing.T) {
	assert.Empty(t, told(nil))
	assert.Equal(t, []string{"a", `"b\n"`}, told([]string{"a", "b\n"}))
	list := told(make([]string, 10_000))
	assert.Len(t, list, maxTold+1)
	assert.Equal(t, "and 9980 more", list[maxTold])
}
