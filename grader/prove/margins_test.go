package prove

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"grade/exercises/course"
	"grade/grader/verdict"
)

// A limit keeps its distance from the highest ratio that must pass and the lowest that
// must fail.
func TestSeparate(t *testing.T) {
	checks := []course.Check{
		{Name: "TestMean", Kind: verdict.Correctness, Line: 6},
		{Name: "BenchmarkMean/speed", Kind: verdict.Speed, Limit: 4, Line: 7},
		{Name: "BenchmarkMean/memory", Kind: verdict.Memory, Limit: 2, Line: 8},
	}
	speed, memory := checks[1].Name, checks[2].Name
	const near, far = ": want at least 1.5 times as much", ": want it at least 1.5 times above the limit"
	for _, c := range []struct {
		name     string
		readings []reading
		want     []Finding
	}{
		{"nothing measured", nil, nil},
		{"apart", []reading{{speed, true, Reading{"a", 2.66}}, {speed, false, Reading{"b", 6}}, {memory, true, Reading{"a", 1.33}}, {memory, false, Reading{"c", 3}}}, nil},
		{"right is too slow", []reading{{speed, true, Reading{"reference", 1}}, {speed, true, Reading{"a", 2.7}}},
			[]Finding{{"", 7, "BenchmarkMean/speed: a takes 2.70 times the reference's, and the limit is 4" + near}}},
		{"slow is too fast", []reading{{speed, false, Reading{"b", 60}}, {speed, false, Reading{"c", 5.9}}},
			[]Finding{{"", 7, "BenchmarkMean/speed: c takes 5.90 times the reference's, and the limit is 4" + far}}},
		{"right is too large", []reading{{memory, true, Reading{"a", 1.4}}},
			[]Finding{{"", 8, "BenchmarkMean/memory: a takes 1.40 times the reference's, and the limit is 2" + near}}},
		{"large is too small", []reading{{memory, false, Reading{"b", 2.9}}},
			[]Finding{{"", 8, "BenchmarkMean/memory: b takes 2.90 times the reference's, and the limit is 2" + far}}},
	} {
		margins, got := separate(checks, c.readings)
		assert.Equal(t, c.want, got, c.name)
		assert.Len(t, margins, 2, "a limit without a reading is shown as well")
	}
}

func TestProposed(t *testing.T) {
	assert.Equal(t, 4.0, proposed(&Reading{Ratio: 2}, &Reading{Ratio: 8}), "as far from one as from the other")
	assert.Equal(t, 6.0, proposed(&Reading{Ratio: 2}, nil))
	assert.Zero(t, proposed(nil, &Reading{Ratio: 8}), "who knows how slow a right one may be")
	assert.Equal(t, 32.0, proposed(&Reading{Ratio: 2}, &Reading{Ratio: 500}), "two digits")
	for _, least := range []float64{0, 0.02} {
		assert.Zero(t, proposed(&Reading{Ratio: least}, nil), "that is no limit")
		assert.Zero(t, proposed(&Reading{Ratio: least}, &Reading{Ratio: 45}), "nor that")
	}
	assert.Equal(t, 1.1, proposed(&Reading{Ratio: 0.03}, &Reading{Ratio: 40}))
}
