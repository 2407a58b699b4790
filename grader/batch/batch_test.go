package batch

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/intake"
	"grade/grader/results/file"
	"grade/grader/submission"
	"grade/grader/tree"
	"grade/grader/verdict"
)

// someExercises is two exercises.
var someExercises = []*course.Exercise{{Name: "autograd", Package: "autograd", Hash: "1"}, {Name: "cosine", Package: "cosine", Hash: "2"}}

// desk grades without a sandbox, and remembers what.
type desk struct {
	mu     sync.Mutex
	graded []string
	fail   func(dir string) error
}

func (d *desk) grade(_ context.Context, s *submission.Snapshot, e *course.Exercise, _ string) (*verdict.Result, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		if err := d.fail(s.Dir); err != nil {
			return nil, err
		}
	}
	d.graded = append(d.graded, e.Name+" "+filepath.Base(filepath.Dir(s.Dir)))
	want := verdict.Graded
	if len(s.Problems) > 0 {
		want = verdict.Invalid
	}
	return &verdict.Result{Exercise: e.Name, Verdict: want, Score: len(d.graded), Submission: verdict.Submission{Hash: s.Hash}}, nil
}

// batch grades all of a folder, and counts.
func (d *desk) batch(ctx context.Context, t *testing.T, root, folder string) (items []Item, counts [3]int, err error) {
	t.Helper()
	list, err := intake.Find(root, []string{"autograd", "cosine"})
	require.NoError(t, err)
	l, err := file.Open(folder)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	items, err = Run(ctx, l, list, Options{Exercises: someExercises, Grade: d.grade, Grader: "g", Workers: 2, Now: time.Now})
	counts[0], counts[1], counts[2] = Count(items)
	return items, counts, err
}

// What was graded is not graded again until it changes; what had no verdict is.
func TestRunAgain(t *testing.T) {
	root := tree.New(t, map[string]string{
		"alice/autograd/a.go": "package autograd\n", "bob/autograd/a.go": "package autograd\nvar x int\n", "carol/autograd/": "", "dave/x/x.go": "package unknown\n",
	})
	folder := filepath.Join(t.TempDir(), "results")
	d := &desk{fail: func(dir string) error {
		if strings.Contains(dir, "bob") {
			return errors.New("the engine is gone")
		}
		return nil
	}}
	items, counts, err := d.batch(t.Context(), t, root, folder)
	require.NoError(t, err)
	assert.Equal(t, [3]int{2, 0, 2}, counts)
	assert.EqualError(t, items[1].Err, "the engine is gone")
	assert.Equal(t, verdict.Invalid, items[2].Record.Result.Verdict, "nothing was handed in")
	assert.ErrorContains(t, items[3].Err, "cannot tell the exercise")

	d.fail, d.graded = nil, nil
	_, counts, err = d.batch(t.Context(), t, root, folder)
	require.NoError(t, err)
	assert.Equal(t, [3]int{1, 2, 1}, counts)
	assert.Equal(t, []string{"autograd bob"}, d.graded)

	// A copy costs nothing, and is kept in its own student's name.
	require.NoError(t, os.CopyFS(filepath.Join(root, "erin"), os.DirFS(filepath.Join(root, "alice"))))
	require.NoError(t, os.WriteFile(filepath.Join(root, "alice", "autograd", "a.go"), []byte("package autograd\n\n"), 0o600))
	d.graded = nil
	items, counts, err = d.batch(t.Context(), t, root, folder)
	require.NoError(t, err)
	assert.Equal(t, [3]int{1, 3, 1}, counts)
	assert.Equal(t, []string{"autograd alice"}, d.graded)
	i := slices.IndexFunc(items, func(i Item) bool { return i.Student == "erin" })
	assert.Equal(t, "erin", items[i].Record.Student)
	assert.True(t, items[i].Cached)
}

// News says who is being graded, and from the first grading on how long the rest takes.
// What is known takes no time.
func TestRunTells(t *testing.T) {
	root := tree.New(t, map[string]string{
		"a/autograd/a.go": "package autograd\n", "b/autograd/a.go": "package autograd\nvar b int\n", "c/autograd/a.go": "package autograd\n",
	})
	list, err := intake.Find(root, []string{"autograd"})
	require.NoError(t, err)
	l, err := file.Open(t.TempDir())
	require.NoError(t, err)
	defer l.Close()
	now := time.Unix(1000, 0)
	var news []string
	_, err = Run(t.Context(), l, list, Options{
		Exercises: someExercises, Workers: 1, Now: func() time.Time { return now },
		Grade: func(context.Context, *submission.Snapshot, *course.Exercise, string) (*verdict.Result, error) {
			now = now.Add(10 * time.Second)
			return &verdict.Result{}, nil
		},
		OnEvent: func(e Event) {
			var who []string
			for _, g := range e.Grading {
				who = append(who, g.Student+" "+g.Exercise)
			}
			news = append(news, fmt.Sprintf("%d of %d %q %v", e.Done, e.Total, who, e.Left))
		},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{
		`0 of 3 ["a autograd"] 0s`, `1 of 3 [] 20s`, `1 of 3 ["b autograd"] 20s`, `2 of 3 [] 10s`, `3 of 3 [] 0s`,
	}, news)
}

// What is known or refused at once does not wait behind what is measured, and each is told
// when it is decided.
func TestRunQuickFirst(t *testing.T) {
	root := tree.New(t, map[string]string{
		"a/autograd/a.go": "package autograd\n", "b/autograd/a.go": "package autograd\nvar refused int\n", "c/autograd/a.go": "package autograd\nvar c int\n", "d/autograd/": "",
	})
	list, err := intake.Find(root, []string{"autograd"})
	require.NoError(t, err)
	l, err := file.Open(t.TempDir())
	require.NoError(t, err)
	defer l.Close()
	o := Options{
		Exercises: someExercises, Workers: 1, Now: time.Now, Grade: (&desk{}).grade,
		Refuses: func(s *submission.Snapshot, _ *course.Exercise) bool {
			return len(s.Files) == 0 || strings.Contains(string(s.Files[0].Data), "refused")
		},
	}
	_, err = Run(t.Context(), l, list[2:3], o)
	require.NoError(t, err)
	var told []string
	o.OnEvent = func(e Event) {
		if e.Through != nil {
			told = append(told, fmt.Sprint(e.Through.Student, e.Through.Cached))
		}
	}
	items, err := Run(t.Context(), l, list, o)
	require.NoError(t, err)
	assert.Equal(t, []string{"ctrue", "bfalse", "dfalse", "afalse"}, told)
	assert.Equal(t, "a", items[0].Student, "items stay in their order")
}

// Which of two counts cannot be told: they are refused, which costs no other student anything.
func TestRunTwice(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n", "alice/autograd.zip": "no zip", "bob/autograd/a.go": "package autograd\n"})
	items, counts, err := (&desk{}).batch(t.Context(), t, root, t.TempDir())
	require.NoError(t, err)
	assert.Equal(t, [3]int{2, 0, 0}, counts)
	assert.Equal(t, []string{"alice", "bob"}, []string{items[0].Student, items[1].Student})
	assert.Equal(t, []verdict.Verdict{verdict.Invalid, verdict.Graded}, []verdict.Verdict{items[0].Record.Result.Verdict, items[1].Record.Result.Verdict})

	// So it is where a name says the exercise of one, and a package that of the other.
	root = tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n", "alice.tar": "no archive", "bob/autograd/a.go": "package autograd\n", "bob/x/b.go": "package autograd\nvar x int\n"})
	p, err := course.ParsePattern("{student}/*")
	require.NoError(t, err)
	t.Chdir(root)
	named, _, err := intake.FindAll(t.Context(), []string{"alice"}, intake.Search{Pattern: p})
	require.NoError(t, err)
	named[0].Exercise = "autograd"
	other, _, err := intake.FindAll(t.Context(), []string{"bob"}, intake.Search{Pattern: p})
	require.NoError(t, err)
	for i := range other {
		other[i].Student = "alice"
	}
	own, err := file.Open(t.TempDir())
	require.NoError(t, err)
	items, err = Run(t.Context(), own, append(named, other...), Options{Exercises: someExercises, Grade: (&desk{}).grade, Now: time.Now})
	require.NoError(t, err)
	require.NoError(t, own.Close())
	require.Len(t, items, 1)
	assert.Equal(t, verdict.Invalid, items[0].Record.Result.Verdict)

	// Where packages name the exercises, they are read before anything is graded.
	root = tree.New(t, map[string]string{"alice/v1/a.go": "package autograd\n", "alice/v2/a.go": "package autograd\nvar x int\n", "alice/w/a.go": "package cosine\n"})
	t.Chdir(root)
	list, _, err := intake.FindAll(t.Context(), []string{"."}, intake.Search{Pattern: p})
	require.NoError(t, err)
	l, err := file.Open(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	items, err = Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: (&desk{}).grade, Now: time.Now})
	require.NoError(t, err)
	require.Len(t, items, 2)
	assert.Equal(t, verdict.Invalid, items[0].Record.Result.Verdict)
	assert.Equal(t, []string{"cosine", string(verdict.Graded)}, []string{items[1].Exercise, string(items[1].Record.Result.Verdict)})
}

// A folder that was made in advance counts only where there is nothing else, with a pattern
// and without.
func TestRunBesideAnEmptyFolder(t *testing.T) {
	root := tree.New(t, map[string]string{"ada/autograd/": "", "ada/autograd.zip": "", "bo/autograd/": "", "cem/autograd/a.go": "package autograd\n", "cem/autograd.zip": ""})
	for student, text := range map[string]string{"ada": "package autograd\n", "cem": "package autograd // another\n"} {
		zipped(t, filepath.Join(root, student, "autograd"), zip.FileHeader{Name: "a.go"}, text)
	}
	t.Chdir(root)
	p, err := course.ParsePattern("{student}/{exercise}")
	require.NoError(t, err)
	for _, pattern := range []course.Pattern{{}, p} {
		got := map[string]string{}
		for _, i := range runOn(t, intake.Search{Pattern: pattern, Exercises: []string{"autograd", "cosine"}}, root) {
			require.NoError(t, i.Err)
			got[i.Student] = string(i.Record.Result.Verdict) + " " + filepath.Base(i.Path)
		}
		assert.Equal(t, map[string]string{"ada": "graded autograd.zip", "bo": "invalid autograd", "cem": "invalid autograd"}, got)
	}
}

// Names that are not text would be one and the same in a results file.
func TestRunNoText(t *testing.T) {
	root := tree.New(t, map[string]string{"J\xf6rg/autograd/a.go": "package autograd\n", "J\xfcrg/autograd/a.go": "package autograd\n"})
	for range 2 {
		items, counts, err := (&desk{}).batch(t.Context(), t, root, t.TempDir())
		require.NoError(t, err)
		assert.Equal(t, [3]int{2, 0, 0}, counts)
		assert.Equal(t, []string{`"J\xf6rg"`, `"J\xfcrg"`}, []string{items[0].Student, items[1].Student})
		assert.Equal(t, verdict.Invalid, items[0].Record.Result.Verdict)
	}
}

// A time that cannot be is none, and stops no grading.
func TestRunImpossibleDate(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n", "bob/autograd/a.go": "package autograd\nvar b int\n"})
	list, err := intake.Find(root, []string{"autograd"})
	require.NoError(t, err)
	odd, err := time.Parse(time.RFC3339, "2023-11-14T22:13:20+24:00")
	require.NoError(t, err)
	for i, at := range []time.Time{odd, time.Unix(316000000000, 0)} {
		list[i].Submitted = func(context.Context) (time.Time, string, error) { return at, "a joke", nil }
	}
	l, err := file.Open(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	items, err := Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: (&desk{}).grade, Now: time.Now})
	require.NoError(t, err)
	assert.Equal(t, 2023, items[0].Record.Submitted.Year())
	assert.True(t, items[1].Record.Submitted.IsZero())
}

// An interrupt leaves what was graded, and nothing else.
func TestRunInterrupted(t *testing.T) {
	root := tree.New(t, map[string]string{"a/autograd/a.go": "package autograd\n", "b/autograd/a.go": "package autograd\nvar b int\n", "c/autograd/a.go": "package autograd\nvar c int\n"})
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	d := &desk{}
	d.fail = func(string) error {
		if len(d.graded) == 1 {
			cancel()
			return context.Canceled
		}
		return nil
	}
	items, counts, err := d.batch(ctx, t, root, folder)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, [3]int{1, 0, 2}, counts)
	assert.Len(t, items, 3)
	d.fail = nil
	_, counts, err = d.batch(t.Context(), t, root, folder)
	require.NoError(t, err)
	assert.Equal(t, [3]int{2, 1, 0}, counts)
}
