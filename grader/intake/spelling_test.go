package intake

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What is merged is the same student's as the request was, whose login came from the server.
func TestSpellAs(t *testing.T) {
	list := []Submission{{Student: "mallory"}, {Student: "BO"}, {Student: "bo"}, {Student: "new"}, {Student: "Bo"}} // two folders of two names stay two
	SpellAs(list, []string{"bo", "Bo", "Mallory"})
	assert.Equal(t, []Submission{{Student: "Mallory"}, {Student: "bo"}, {Student: "bo"}, {Student: "new"}, {Student: "Bo"}}, list)
}
