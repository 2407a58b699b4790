package prove

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"grade/exercises/course"
	"grade/observe/wire"
)

const withValues = `package hidden

import "testing"

const size = 65536

func TestMean(t *testing.T) {
	for _, c := range []struct{ in []float64; want float64 }{
		{[]float64{1, 2}, 1.5},
		{[]float64{0.1, 0.7}, -0.40125},
	} {
		if got := Mean(c.in); got != c.want { t.Error(got) }
	}
	if got := Describe(); got != "the mean of two" { t.Error(got) }
	label := "a long label"
	count := 12_345
}
`

func TestLeaks(t *testing.T) {
	const file = "exercises/clip/hidden/clip_test.go"
	check := course.Check{Name: "TestMean"}
	float := func(x float64) wire.Record { return wire.Record{Value: wire.Value{Kind: wire.Float, Float: x}} }
	text := func(s string) wire.Record { return wire.Record{Value: wire.Value{Kind: wire.String, String: s}} }
	integer := func(n int64) wire.Record { return wire.Record{Value: wire.Value{Kind: wire.Int, Int: n}} }
	for _, c := range []struct {
		name string
		runs [][]wire.Record
		want map[int]string // literals by line
	}{
		{"nothing observed", nil, nil},
		{"once is by chance", [][]wire.Record{{float(-0.40125), float(-0.40125)}, {float(0.3)}}, nil},
		{"a number", [][]wire.Record{{float(-0.40125)}, {float(0.3), float(-0.40125)}, {float(-0.40125)}}, map[int]string{10: "0.40125"}},
		{"not always", [][]wire.Record{{float(-0.40125)}, {float(0.3)}, {float(-0.40125)}}, nil},
		{"in a list", [][]wire.Record{{{Value: wire.Value{Floats: []float64{1, -0.40125}}}}, {float(-0.40125)}}, map[int]string{10: "0.40125"}},
		{"a whole number", [][]wire.Record{{integer(12345)}, {{Value: wire.Value{Ints: []int64{-12345}}}}}, map[int]string{16: "12_345"}},
		{"a short one", [][]wire.Record{{float(1.5)}, {float(1.5)}}, nil},
		{"a size", [][]wire.Record{{integer(65536)}, {integer(65536)}}, nil},
		{"a text", [][]wire.Record{{text("the mean of two")}, {{Value: wire.Value{Strings: []string{"the mean of two"}}}}}, map[int]string{14: `"the mean of two"`}},
		{"a label", [][]wire.Record{{text("a long label")}, {text("a long label")}}, nil},
	} {
		l := newLeaks("exercises/clip/hidden", []course.File{{Name: "clip_test.go", Data: []byte(withValues)}})
		for _, run := range c.runs {
			l.observe(check, run)
		}
		got := l.findings()
		assert.Len(t, got, len(c.want), c.name)
		for _, f := range got {
			assert.Equal(t, file, f.File, c.name)
			assert.Contains(t, f.Message, c.want[f.Line]+" is what TestMean observes of the reference", c.name)
		}
	}
}
