package batch

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/intake"
	"grade/grader/results/file"
	"grade/grader/submission"
	"grade/grader/tree"
	"grade/grader/verdict"
)

const wellMade = "package autograd\n"

// zipped writes an archive of one file.
func zipped(t *testing.T, dir string, h zip.FileHeader, data string) {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if h.Name != "" {
		f, err := w.CreateRaw(&h)
		require.NoError(t, err)
		_, err = f.Write([]byte(data))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(dir+".zip", b.Bytes(), 0o600))
}

// mistakes are made by students, in a folder or an archive at dir. What is true must be
// graded all the same; the others are refused, or named as something to mend.
var mistakes = map[string]struct {
	make func(t *testing.T, dir string)
	fine bool
}{
	"right":              {make: goFile("a.go", wellMade), fine: true},
	"byte order mark":    {make: goFile("a.go", "\ufeff"+wellMade), fine: true},
	"carriage returns":   {make: goFile("a.go", "package autograd\r\n\r\nvar x int\r\n"), fine: true},
	"another package":    {make: goFile("a.go", "package lodaer\n")},
	"no package":         {make: goFile("a.go", "func f() {}\n")},
	"no Go":              {make: goFile("a.go", "\x00\xff{{{{")},
	"an empty file":      {make: goFile("a.go", "")},
	"only a test":        {make: goFile("a_test.go", wellMade)},
	"only notes":         {make: goFile("notes.txt", "tomorrow")},
	"a name too long":    {make: goFile(strings.Repeat("a", 252)+".go", wellMade)},
	"a name of no text":  {make: goFile("\xff.go", wellMade)},
	"a folder of a file": {make: goFile("a.go/b.go", wellMade)},
	"nothing":            {make: func(*testing.T, string) {}},
	"only a link": {make: func(t *testing.T, dir string) {
		require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "a.go")))
	}},
	"a link to itself": {make: func(t *testing.T, dir string) { require.NoError(t, os.Symlink("a.go", filepath.Join(dir, "a.go"))) }},
	"a pipe":           {make: func(t *testing.T, dir string) { require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "a.go"), 0o600)) }},
	"a link in its place": {make: func(t *testing.T, dir string) {
		require.NoError(t, os.Remove(dir))
		require.NoError(t, os.Symlink("nowhere", dir))
	}},
	"a pipe in its place": {make: func(t *testing.T, dir string) {
		require.NoError(t, os.Remove(dir))
		require.NoError(t, syscall.Mkfifo(dir, 0o600))
	}},
	"an archive of nothing":   {make: archived(zip.FileHeader{}, "")},
	"an encrypted archive":    {make: archived(zip.FileHeader{Name: "a.go", Flags: 1, CompressedSize64: 16, UncompressedSize64: 4}, "0123456789abcdef")},
	"an unknown compression":  {make: archived(zip.FileHeader{Name: "a.go", Method: 99, CompressedSize64: 4, UncompressedSize64: 4}, "abcd")},
	"a broken compression":    {make: archived(zip.FileHeader{Name: "a.go", Method: zip.Deflate, CompressedSize64: 4, UncompressedSize64: 400}, "\xff\xff\xff\xff")},
	"a bomb":                  {make: archived(zip.FileHeader{Name: "a.go", Method: zip.Deflate, UncompressedSize64: 1 << 30}, deflated(1<<22))},
	"an empty archive":        {make: written(".zip", "")},
	"a tar that is a zip":     {make: written(".zip", strings.Repeat("\x00", 1024))},
	"a zip that is a tar":     {make: written(".tar", "PK\x05\x06"+strings.Repeat("\x00", 18))},
	"a page that is a tar.gz": {make: written(".tar.gz", "<html>log in</html>")},
}

func goFile(name, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		name := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

func written(suffix, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		require.NoError(t, os.Remove(dir))
		require.NoError(t, os.WriteFile(dir+suffix, []byte(text), 0o600))
	}
}

func archived(h zip.FileHeader, data string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		require.NoError(t, os.Remove(dir))
		zipped(t, dir, h, data)
	}
}

func deflated(size int) string {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression)
	_, _ = w.Write(make([]byte, size))
	_ = w.Close()
	return b.String()
}

// Whatever one student hands in costs that student alone: it is refused, or named as
// something that the student can mend, and is no reason to run again. So it is where the
// folder says the exercise, and where the package does.
func TestMistakesOfStudents(t *testing.T) {
	for _, folder := range []string{"autograd", "work"} {
		for _, text := range []string{"{student}/*", ""} {
			root := t.TempDir()
			for student, m := range mistakes {
				dir := filepath.Join(root, strings.ReplaceAll(student, " ", "-"), folder)
				require.NoError(t, os.MkdirAll(dir, 0o700))
				m.make(t, dir)
			}
			s := intake.Search{Exercises: []string{"autograd", "cosine"}}
			if text != "" {
				var err error
				s.Pattern, err = course.ParsePattern(text)
				require.NoError(t, err)
			}
			t.Chdir(root)
			items := runOn(t, s, root)
			assert.Zero(t, Ours(items))
			assert.NotEmpty(t, items)
			for _, i := range items {
				told(t, i, mistakes[strings.ReplaceAll(strings.Split(i.Student, "/")[0], "-", " ")].fine)
			}
		}
	}
}

func runOn(t *testing.T, s intake.Search, root string) []Item {
	t.Helper()
	list, _, err := intake.FindAll(t.Context(), []string{root}, s)
	require.NoError(t, err)
	l, err := file.Open(filepath.Join(t.TempDir(), "results"))
	require.NoError(t, err)
	defer l.Close()
	items, err := Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: (&desk{}).grade, Workers: 2, Now: time.Now})
	require.NoError(t, err)
	return items
}

// told makes sure that an item has a verdict, or words for its student.
func told(t *testing.T, i Item, fine bool) {
	t.Helper()
	switch {
	case fine:
		require.NoError(t, i.Err, i.Student)
		assert.Equal(t, verdict.Graded, i.Record.Result.Verdict, i.Student)
	case i.Record == nil: // else it has a verdict, which is the vet's to find
		assert.Equal(t, fault.Student, fault.KindOf(i.Err), "%s: %v", i.Student, i.Err)
		assert.NotEmpty(t, fault.Told(i.Err), i.Student)
	}
}

// What is gone, or something else, by the time that it is read is its student's matter.
func TestMovedAway(t *testing.T) {
	root := tree.New(t, map[string]string{"ada/autograd/a.go": wellMade, "bo/autograd/a.go": wellMade, "cem/autograd/a.go": wellMade})
	list, err := intake.Find(root, []string{"autograd"})
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Join(root, "ada")))
	require.NoError(t, os.RemoveAll(filepath.Join(root, "bo", "autograd")))
	require.NoError(t, os.WriteFile(filepath.Join(root, "bo", "autograd"), nil, 0o600))
	l, err := file.Open(t.TempDir())
	require.NoError(t, err)
	defer l.Close()
	items, err := Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: (&desk{}).grade, Workers: 2, Now: time.Now})
	require.NoError(t, err)
	require.Len(t, items, 3)
	for _, i := range items[:2] {
		assert.Equal(t, fault.Student, fault.KindOf(i.Err), "%v", i.Err)
	}
	told(t, items[2], true)
	assert.Len(t, l.Pending(), 2, "neither is taken for not handed in")
}

// What may not be read is no zero: the fault may be that of the machine's owner.
func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		asNobody(t)
		return
	}
	root := tree.New(t, map[string]string{"ada/autograd/a.go": wellMade, "bo/autograd/a.go": wellMade, "cem/autograd.zip": ""})
	require.NoError(t, os.Chmod(filepath.Join(root, "ada", "autograd", "a.go"), 0))
	require.NoError(t, os.Chmod(filepath.Join(root, "bo", "autograd"), 0))
	require.NoError(t, os.Chmod(filepath.Join(root, "cem", "autograd.zip"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, "bo", "autograd"), 0o700) })
	items := runOn(t, intake.Search{Exercises: []string{"autograd"}}, root)
	require.Len(t, items, 3)
	for _, i := range items {
		require.Nil(t, i.Record, i.Student)
		told(t, i, false)
	}
}

// asNobody runs the test as a user without rights: root may read everything.
func asNobody(t *testing.T) {
	const nobody = 65534
	dir, err := os.MkdirTemp("", "grade-nobody-") // another user may not enter the folder of the test program
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	self, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	program, temporary := filepath.Join(dir, "program"), filepath.Join(dir, "temporary")
	require.NoError(t, os.WriteFile(program, self, 0o755))
	require.NoError(t, os.Mkdir(temporary, 0o700))
	require.NoError(t, os.Chown(temporary, nobody, nobody))
	child := exec.Command(program, "-test.run=^"+t.Name()+"$", "-test.v")
	child.Dir, child.Env = dir, []string{"TMPDIR=" + temporary}
	child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := child.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
}

// An interrupt is heard while submissions are read, however many are left.
func TestInterruptedWhileReading(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var list []intake.Submission
	read := 0
	for i := range 1000 {
		list = append(list, intake.Submission{Student: fmt.Sprint(i), Exercise: "autograd", Path: "x", Read: func(ctx context.Context) (*submission.Snapshot, error) {
			if read++; read == 10 {
				cancel()
			}
			<-time.After(50 * time.Millisecond) // as a slow disk
			return submission.Of("x", nil), nil
		}})
	}
	l, err := file.Open(t.TempDir())
	require.NoError(t, err)
	defer l.Close()
	items, err := Run(ctx, l, list, Options{Exercises: someExercises, Grade: (&desk{}).grade, Now: time.Now})
	require.ErrorIs(t, err, context.Canceled)
	assert.Less(t, read, 100)
	assert.Len(t, items, 1000)
	assert.Len(t, l.Pending(), 1000, "none is taken for not handed in")
}

// A run that was stopped before it read a stray leaves what earlier runs have found of it; one
// that reads it, or other work of the student, has seen what there is.
func TestSeen(t *testing.T) {
	root := tree.New(t, map[string]string{"ada/work/a.go": "package unknown\n", "bo/autograd/a.go": wellMade})
	s := intake.Search{Exercises: []string{"autograd", "cosine"}}
	list, _, err := intake.FindAll(t.Context(), []string{root}, s)
	require.NoError(t, err)
	unread := Ungraded(t.Context(), list, nil, context.Canceled)
	read := runOn(t, s, root)
	for _, c := range []struct {
		items []Item
		ada   bool
	}{{read, true}, {unread, false}} {
		seen := Seen(c.items)
		assert.Equal(t, []bool{c.ada, true, false}, []bool{seen("ada/work"), seen("bo"), seen("cem")})
		assert.Equal(t, c.ada, len(Strays(c.items, time.Now())) == 1)
	}
}
