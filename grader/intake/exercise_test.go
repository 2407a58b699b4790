package intake

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// Where two exercises have one package, a submission is not graded as the one that
// happens to come first.
func TestExerciseOf(t *testing.T) {
	all := []*course.Exercise{{Name: "autograd", Package: "autograd"}, {Name: "cosine", Package: "cosine"}, {Name: "cosine2", Package: "cosine"}}
	of := func(pkg string) *submission.Snapshot {
		return submission.Of("dir", []submission.File{{Name: "a.go", Data: []byte("package " + pkg + "\n")}})
	}
	refused := submission.Of("dir", nil)
	refused.Problems = []verdict.Problem{{File: "b.go", Message: "too large"}}
	for name, c := range map[string]struct {
		name     string
		snapshot *submission.Snapshot
		want     string
		doubt    Doubt
		message  string
	}{
		"the only one with the package":   {snapshot: of("autograd"), want: "autograd"},
		"a name beats the package":        {name: "cosine2", snapshot: of("whatever"), want: "cosine2"},
		"a name needs no package":         {name: "cosine", snapshot: submission.Of("dir", nil), want: "cosine"},
		"a name that is none":             {name: "tanh", snapshot: of("cosine"), doubt: NoExercise, message: `there is no exercise "tanh"`},
		"two with the package":            {snapshot: of("cosine"), doubt: Ambiguous, message: "a.go:1: several exercises have a package cosine"},
		"none with the package":           {snapshot: of("none"), doubt: NoExercise, message: "a.go:1: no exercise has a package none"},
		"no package clause":               {snapshot: of(""), doubt: NoPackage, message: "a.go:1: no package clause"},
		"no file, because it was refused": {snapshot: refused, doubt: Unreadable, message: "b.go: too large"},
		"no file":                         {snapshot: submission.Of("dir", nil), doubt: NoPackage, message: "no package clause"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := ExerciseOf(c.name, c.snapshot, all)
			if c.want != "" {
				require.NoError(t, err)
				assert.Equal(t, c.want, e.Name)
				return
			}
			var unknown *UnknownExercise
			require.ErrorAs(t, err, &unknown)
			assert.Equal(t, c.doubt, unknown.Doubt)
			assert.Equal(t, c.message, err.Error())
			assert.Len(t, unknown.Fits, map[Doubt]int{Ambiguous: 2}[c.doubt])
		})
	}
}
