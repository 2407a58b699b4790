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
		{"apart", []reading{{speed, true, false, Reading{"a", 2.66}}, {speed, false, false, Reading{"b", 6}}, {memory, true, false, Reading{"a", 1.33}}, {memory, false, false, Reading{"c", 3}}}, nil},
		{"right is too slow", []reading{{speed, true, false, Reading{"reference", 1}}, {speed, true, false, Reading{"a", 2.7}}},
			[]Finding{{"", 7, "BenchmarkMean/speed: a takes 2.70 times the reference's, and the limit is 4" + near}}},
		{"right is stopped, which is told", []reading{{speed, true, false, Reading{"a", 2.7}}, {speed, true, true, Reading{"b", 6}}}, nil},
		{"slow is too fast", []reading{{speed, false, false, Reading{"b", 60}}, {speed, false, false, Reading{"c", 5.9}}},
			[]Finding{{"", 7, "BenchmarkMean/speed: c takes 5.90 times the reference's, and the limit is 4" + far}}},
		{"right is too large", []reading{{memory, true, false, Reading{"a", 1.4}}},
			[]Finding{{"", 8, "BenchmarkMean/memory: a takes 1.40 times the reference's, and the limit is 2" + near}}},
		{"large is too small", []reading{{memory, false, false, Reading{"b", 2.9}}},
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

// A limit that stops a right solution is told in words for who has set it.
func TestStops(t *testing.T) {
	speed := course.Check{Name: "BenchmarkMean/speed", Kind: verdict.Speed, Limit: 3}
	assert.Equal(t, "the limit 3 of BenchmarkMean/speed stops accepted/ring, which takes 6.02 times the reference's CPU time: want at least 9.1 (1.5 times as much)",
		stops(speed, "accepted/ring", 6.02))
	memory := course.Check{Name: "BenchmarkMean/memory", Kind: verdict.Memory, Limit: 1.5}
	assert.Contains(t, stops(memory, "accepted/ring", 120), "which takes 120.00 times the reference's memory: want at least 180 (")
}
