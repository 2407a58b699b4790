package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/scaffold"
	"grade/grader/prove"
	"grade/grader/turn"
)

// planted are faults that do not hide each other: files that are added to a new exercise,
// or changed in it. A course for each fault would take a minute of building.
type planted struct {
	name  string
	files map[string]string // new contents, or "old => new" of what is there
	wants []string          // how findings begin
}

const (
	plantedIn        = "exercises/clip/"
	plantedConfig    = plantedIn + "exercise.yaml"
	plantedStarter   = plantedIn + "starter/clip.go"
	plantedHidden    = plantedIn + "hidden/clip_test.go"
	plantedReference = "reference/clip/clip.go"
	plantedAccepted  = plantedIn + "submissions/accepted/running-mean/"
	plantedWrong     = plantedIn + "submissions/wrong_answer/empty-is-nan/"
	// benchmark is one that takes its time.
	benchmark = "// It takes its time.\nfunc BenchmarkMean(b *testing.B) {\n\to := observe.New(b)\n\txs := make([]float64, 1<<16)\n\tfor i := range xs {\n\t\txs[i] = o.Rand().Float64()\n\t}\n\tsum := 0.0\n\tfor o.Loop() {\n\t\tfor i := range 100 {\n\t\t\txs[0] = float64(i)\n\t\t\tsum += clip.Mean(xs)\n\t\t}\n\t}\n\to.Float(\"sum\", sum)\n}\n\n"
	// zeros passes on no numbers and nothing else.
	zeros     = "package clip\n\nfunc Mean(xs []float64) float64 { return 0 }\n"
	backwards = "package clip\n\nfunc Mean(xs []float64) float64 {\n\tsum := 0.0\n\tfor i := range xs {\n\t\tsum += xs[len(xs)-1-i]\n\t}\n\treturn sum / float64(max(1, len(xs)))\n}\n"
	right     = "package clip\n\nfunc Mean(xs []float64) (mean float64) {\n\tfor i, x := range xs {\n\t\tmean += (x - mean) / float64(i+1)\n\t}\n\treturn mean\n}\n"
)

// measured are the files of an exercise with a benchmark beside the test.
var measured = map[string]string{
	plantedConfig:           "{test: TestMean, points: 100} => {test: TestMean, points: 50}\n  - {benchmark: BenchmarkMean, kind: speed, points: 50, limit: 3}",
	plantedIn + "README.md": "TestMean | 1, 2 | 100 | => TestMean | 1, 2 | 50 |\n| BenchmarkMean | 1 | 50 |",
	plantedHidden:           "// The mean of => " + benchmark + "// The mean of",
}

// plantedFaults are those that only a grading finds.
var plantedFaults = []planted{
	{"reference that is random", map[string]string{
		plantedReference: "package clip\n\nimport \"math/rand/v2\"\n\nfunc Mean(xs []float64) float64 { return rand.Float64() }\n",
	}, []string{
		plantedConfig + ":7: TestMean: the reference does not agree with itself on the inputs of seed ",
		plantedConfig + ":7: TestMean: the reference loses its points: wrong_answer",
	}},
	{"reference that is refused", map[string]string{
		plantedReference: "package clip => package clip\n\nimport _ \"net/http\"",
	}, []string{
		plantedReference + ":4: the reference is refused or does not compile: ",
	}},
	{"reference that does not compile", map[string]string{
		plantedReference: "return sum / float64(len(xs)) => return sum / len(xs)",
	}, []string{
		plantedReference + ":13: it cannot be graded: invalid operation",
	}},
	{"reference that panics", map[string]string{
		plantedReference: "sum := 0.0 => sum := xs[100]",
	}, []string{
		plantedReference + ":9: it cannot be graded: TestMean crashes with the reference",
	}},
	{"hidden test that does not compile", map[string]string{
		plantedHidden: "o.Float( => o.Int(",
	}, []string{
		plantedHidden + ":22: it cannot be graded: cannot use clip.Mean(xs)",
	}},
	{"starter that does not compile, a right one that is wrong, a wrong one that is right, a trick that gains points, an answer in a hidden test", map[string]string{
		plantedStarter:              "return 0 => return nil",
		plantedAccepted + "clip.go": zeros,
		plantedWrong + "clip.go":    right,
		plantedIn + "submissions/invalid/imports/expect.yaml": "why: opens a socket\nverdict: invalid\nrule: unsafe\n",
		plantedIn + "submissions/invalid/imports/clip.go":     "package clip\n\nimport _ \"net\"\n\nfunc Mean(xs []float64) float64 { return 0 }\n",
		plantedIn + "submissions/forgery/trick/expect.yaml":   "why: a trick\nverdict: graded\ntwin: forgery/honest\n",
		plantedIn + "submissions/forgery/trick/clip.go":       right,
		plantedIn + "submissions/forgery/honest/expect.yaml":  "why: gives up\nverdict: graded\nmax_score: 0\n",
		plantedIn + "submissions/forgery/honest/clip.go":      zeros,
		plantedHidden: "	r := o.Rand() => 	if got := clip.Mean([]float64{0.25, 0.0025}); got != 0.12625 {\n\t\tt.Error(got)\n\t} else {\n\t\to.Float(\"of two\", got)\n\t}\n\tr := o.Rand()",
	}, []string{
		plantedStarter + ":6: the starter is refused or does not compile: ",
		plantedAccepted + "expect.yaml:4: TestMean: this solution and the reference disagree",
		plantedWrong + "expect.yaml:5: not as declared: TestMean: passed, want wrong_answer",
		plantedIn + "submissions/invalid/imports/expect.yaml:3: not as declared: want a problem of rule unsafe, found none",
		plantedIn + "submissions/forgery/trick/expect.yaml:3: not as declared: score 100; its control, the same program without the trick, scores 0",
		plantedHidden + ":16: 0.12625 is what TestMean observes of the reference, whatever the seed",
	}},
	{"starter that is a solution, wrong in another way, a forgery that scores too much", map[string]string{
		plantedStarter:           right,
		plantedWrong + "clip.go": "package clip\n\nfunc Mean(xs []float64) float64 { return xs[0] }\n",
		plantedIn + "submissions/forgery/trick/expect.yaml": "why: a trick\nverdict: graded\nmax_score: 10\n",
		plantedIn + "submissions/forgery/trick/clip.go":     right,
	}, []string{
		plantedConfig + ":7: TestMean: the starter passes it, and earns its 100 points",
		plantedWrong + "expect.yaml:5: not as declared: TestMean: runtime_error, want wrong_answer",
		plantedIn + "submissions/forgery/trick/expect.yaml:3: not as declared: score 100, want at most 10",
	}},
	{"right starter that is wrong, a wrong one that does not compile", map[string]string{
		plantedConfig:            "package: clip\n => package: clip\nstarter: right\n",
		plantedWrong + "clip.go": "package clip\n\nfunc Mean(xs []float64) float64 { return \"\" }\n",
	}, []string{
		plantedConfig + ":8: TestMean: the starter fails it (wrong_answer ",
		plantedWrong + "expect.yaml:3: not as declared: verdict compile_error, want graded",
	}},
	{"right starter that is refused", map[string]string{
		plantedConfig: "package: clip\n => package: clip\nstarter: right\n", plantedStarter: "return 0 => return nil",
	}, []string{
		plantedStarter + ":6: the starter is refused or does not compile: ",
	}},
	{"right starter that is fast", map[string]string{
		plantedStarter: right, plantedHidden: "// The mean of => " + benchmark + "// The mean of",
		plantedConfig: "- {test: TestMean, points: 100} => - {test: TestMean, points: 50}\n  - {benchmark: BenchmarkMean, kind: memory, points: 50, limit: 20}\nstarter: right",
	}, []string{
		plantedConfig + ":8: BenchmarkMean/memory: the starter passes it, although it is there to be improved",
	}},
}

// What only a grading finds is found, where it is; the faults that reading finds are
// tested beside it.
func TestCheckFindsWhatIsPlanted(t *testing.T) {
	turn.Take(t)
	if testing.Short() {
		t.Skip("grades in a sandbox")
	}
	t.Parallel()
	s, err := openSandbox(t.Context(), sandboxFlags{Kind: sandboxProcess})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	g := graderIn(t, s)
	for _, p := range plantedFaults {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			p.into(t, root)
			r, err := prove.Check(t.Context(), g, course.Open(os.DirFS(root)), "clip", prove.CheckOptions{Seeds: 2, Workers: 1})
			require.NoError(t, err)
			for _, want := range p.wants {
				assert.True(t, slices.ContainsFunc(r.Findings, func(f prove.Finding) bool { return strings.HasPrefix(f.String(), want) }), "%v\nlacks %s", r.Findings, want)
			}
		})
	}
}

// into writes a new exercise with the faults.
func (p planted) into(t *testing.T, root string) {
	t.Helper()
	files, err := scaffold.Exercise("clip", "example.com/mine")
	require.NoError(t, err)
	texts := map[string]string{"go.mod": "module example.com/mine\n"}
	for _, f := range files {
		texts[f.Name] = string(f.Data)
	}
	for name, text := range p.files {
		if old, with, ok := strings.Cut(text, " => "); ok {
			require.Contains(t, texts[name], old)
			text = strings.Replace(texts[name], old, with, 1)
		}
		texts[name] = text
	}
	for name, text := range texts {
		file := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	}
}

// Without measuring, right solutions are graded all the same, and what is left out is told.
func TestQuickCheckGradesWhatIsRight(t *testing.T) {
	turn.Take(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("grades in a sandbox")
	}
	root := t.TempDir()
	files := maps.Clone(measured)
	maps.Copy(files, map[string]string{
		plantedAccepted + "broken.go":                          "package clip\n\nfunc init() { panic(0) }\n",
		plantedIn + "submissions/accepted/sum/expect.yaml":     "why: As the reference, backwards.\nverdict: graded\nscore: 100\n",
		plantedIn + "submissions/accepted/sum/clip.go":         backwards,
		plantedIn + "submissions/too_slow/divides/expect.yaml": "why: It divides once for each number.\nverdict: graded\nchecks:\n  BenchmarkMean/speed: too_slow\n",
		plantedIn + "submissions/too_slow/divides/clip.go":     right,
	})
	planted{files: files}.into(t, root)

	s, err := openSandbox(t.Context(), sandboxFlags{Kind: sandboxProcess})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	r, err := prove.Check(t.Context(), graderIn(t, s), course.Open(os.DirFS(root)), "clip", prove.CheckOptions{Quick: true, Workers: 2})
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(r.Findings, func(f prove.Finding) bool { return strings.HasPrefix(f.String(), plantedAccepted+"expect.yaml:") }), "%v", r.Findings)
	assert.Len(t, r.Findings, 1, "%v", r.Findings)
	assert.Equal(t, 1, r.LeftOut)
}
