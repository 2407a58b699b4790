package prove

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/scaffold"
)

// Everything is chosen before anything is graded: a pattern has to fit in one exercise, not in
// each, and one that fits nowhere is told at once.
func TestChooseSeeded(t *testing.T) {
	files := fresh(t)
	clap, err := scaffold.Exercise("clap", "example.com/mine")
	require.NoError(t, err)
	for _, f := range clap {
		plant(t, files, f.Name, "", string(f.Data))
	}
	plant(t, files, "exercises/clap/submissions/wrong_answer", "", "")
	plant(t, files, "exercises/clap/submissions/compile_error/type/expect.yaml", "", "why: returns a text\nverdict: compile_error\n")
	plant(t, files, "exercises/clap/submissions/compile_error/type/clap.go", "", "package clap\n")
	c, both := course.Open(files), []string{"clap", "clip"}

	for _, tt := range []struct {
		names, patterns, want []string
		err                   string
	}{
		{both, nil, []string{"clap: accepted/running-mean", "clip: accepted/running-mean", "clip: wrong_answer/empty-is-nan"}, ""},
		{both, []string{"wrong_answer/*"}, []string{"clip: wrong_answer/empty-is-nan"}, ""},
		{both, []string{"wrong_answer/*", "wrong_answer/none"}, nil, `none of the exercises clap, clip has a submission "wrong_answer/none"`},
		{both[:1], []string{"wrong_answer/*"}, nil, `exercise clap has no submission "wrong_answer/*"`},
		{both[:1], []string{"compile_error/type"}, nil, "exercise clap has no submission that is tested"},
		{both, []string{"["}, nil, "a pattern of submissions is malformed: ["},
	} {
		chosen, err := ChooseSeeded(c, tt.names, tt.patterns)
		if tt.err != "" {
			assert.ErrorContains(t, err, tt.err)
			continue
		}
		require.NoError(t, err)
		var got []string
		for _, x := range chosen {
			for _, s := range x.list {
				got = append(got, x.exercise.Name+": "+s.Name)
			}
		}
		assert.Equal(t, tt.want, got, "%v", tt.patterns)
	}
}
