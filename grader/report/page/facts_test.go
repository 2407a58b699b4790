package page

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFactOf(t *testing.T) {
	assert.Equal(t, courseFact{"1", "exercise"}, factOf(1, "exercise"))
	assert.Equal(t, courseFact{"0", "exercises"}, factOf(0, "exercise"))
	assert.Equal(t, courseFact{"2", "exercises"}, factOf(2, "exercise"))
}
