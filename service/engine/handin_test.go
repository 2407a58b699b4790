package engine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Of the names of thousands of files that are no part of an attempt, some are kept.
func TestIgnoredNamesAreClipped(t *testing.T) {
	few := []string{"README.md", "notes.txt"}
	assert.Equal(t, few, clipped(few))
	many := make([]string, 100)
	for i := range many {
		many[i] = strings.Repeat("x", 100)
	}
	kept := clipped(many)
	assert.Equal(t, "and 80 more", kept[len(kept)-1])
	assert.Len(t, kept, 21)
}
