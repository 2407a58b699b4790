package document

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDidYouMean(t *testing.T) {
	known := []string{"why", "checks", "score", "max_score", "TestUntouched", "TestUnsorted"}
	for name, want := range map[string]string{
		"chekcs": "checks", "TestUntouchd": "TestUntouched", "testuntouched": "TestUntouched", "maxscore": "max_score", "wy": "why", "scores": "score",
	} {
		assert.Equal(t, "; did you mean "+want+"?", DidYouMean(name, known), name)
	}
	for _, name := range []string{"", "x", "points", "TestNothingLikeIt"} {
		assert.Empty(t, DidYouMean(name, known), name)
	}
}

func TestDistance(t *testing.T) {
	assert.Equal(t, 0, distance("abc", "abc"))
	assert.Equal(t, 3, distance("", "abc"))
	assert.Equal(t, 1, distance("acb", "abc"), "two that are swapped")
	assert.Equal(t, 2, distance("abcd", "bcde"))
}
