package submission

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/fault"
	"grade/grader/tree"
	"grade/grader/verdict"
)

func take(t *testing.T, dir string) *Snapshot {
	t.Helper()
	s, err := Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func names(files []File) []string {
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}

// A snapshot keeps a page of problems at most, however many there are.
func TestManyRefused(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 * verdict.MaxProblems {
		require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, fmt.Sprintf("%03d.go", i))))
	}
	s, err := Take(dir)
	require.NoError(t, err)
	require.Len(t, s.Problems, verdict.MaxProblems+1)
	assert.Equal(t, "100 more problems are not listed", s.Problems[verdict.MaxProblems].Message)
}

func TestSnapshotTakesGoFilesOnly(t *testing.T) {
	dir := tree.New(t, map[string]string{
		"b.go": "package p\n", "a.go": "// about\n\npackage p\n", "a_test.go": "package p\n", "go.mod": "module x\n", "go.sum": "",
		"go.work": "go 1.26\n", ".hidden.go": "package q\n", "_draft.go": "package q\n", "README.md": "hello", "vendor/x/x.go": "package x\n",
		".git/config": "[core]\nfsmonitor = touch /tmp/marker\n", "sub/c.go": "package c\n", "program": "\x7fELF",
	})
	s := take(t, dir)
	if got, want := names(s.Files), []string{"a.go", "b.go"}; !reflect.DeepEqual(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	want := []string{".git/", ".hidden.go", "README.md", "_draft.go", "a_test.go", "go.mod", "go.sum", "go.work", "program", "sub/", "vendor/"}
	if !reflect.DeepEqual(s.Ignored, want) {
		t.Errorf("ignored %q, want %q", s.Ignored, want)
	}
	if len(s.Problems) != 0 {
		t.Errorf("problems %v, want none", s.Problems)
	}
	if s.Package != "p" || s.PackageFile != "a.go" || s.PackageLine != 3 {
		t.Errorf("package %q at %s:%d, want p at a.go:3", s.Package, s.PackageFile, s.PackageLine)
	}
	if string(s.Files[0].Data) != "// about\n\npackage p\n" {
		t.Errorf("a.go is %q", s.Files[0].Data)
	}
}

func TestSnapshotHash(t *testing.T) {
	hash := func(files map[string]string) string { return take(t, tree.New(t, files)).Hash }
	base := hash(map[string]string{"a.go": "package p\n", "b.go": "package p\n"})
	if len(base) != 64 {
		t.Fatalf("hash %q", base)
	}
	same := hash(map[string]string{"a.go": "package p\n", "b.go": "package p\n", "notes.txt": "ignored"})
	if same != base {
		t.Error("an ignored file changes the hash")
	}
	for _, files := range []map[string]string{
		{"a.go": "package p\n"},
		{"a.go": "package p\n", "c.go": "package p\n"},
		{"a.go": "package p\n", "b.go": "package p\n\n"},
		{"a.go": "package p\n\n", "b.go": "package p"},
	} {
		if hash(files) == base {
			t.Errorf("%q has the same hash", files)
		}
	}
}

func TestSnapshotUsageErrors(t *testing.T) {
	file := filepath.Join(tree.New(t, map[string]string{"a.go": "package p\n"}), "a.go")
	for name, tt := range map[string]struct{ dir, message string }{
		"absent":          {filepath.Join(t.TempDir(), "nowhere"), "there is no folder"},
		"a file":          {file, "is not a folder"},
		"a FIFO":          {fifo(t, t.TempDir(), "pipe"), "is not a folder"},
		"below a file":    {filepath.Join(file, "x"), "not a directory"},
		"empty":           {t.TempDir(), "is empty"},
		"no Go":           {tree.New(t, map[string]string{"notes.txt": "x"}), "no Go file"},
		"tests only":      {tree.New(t, map[string]string{"a_test.go": "package p"}), "no Go file"},
		"Go further down": {tree.New(t, map[string]string{"x/a.go": "package p"}), "no Go file"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Take(tt.dir)
			var usage *fault.Error
			if s != nil || !errors.As(err, &usage) {
				t.Fatalf("got %v, %v, want a usage error", s, err)
			}
			if !strings.Contains(err.Error(), tt.message) || usage.Advice == "" {
				t.Errorf("%q (%q) does not say %q and what to do", err, usage.Advice, tt.message)
			}
		})
	}
}

// A refusal names file and rule, and the file is not taken.
func TestSnapshotRefusals(t *testing.T) {
	const good = "package p\n"
	secret := tree.New(t, map[string]string{"secret": "package canary\n"})
	for name, tt := range map[string]struct {
		make func(t *testing.T, dir string)
		want string // file and rule
	}{
		"symlink to a secret": {func(t *testing.T, dir string) { symlink(t, filepath.Join(secret, "secret"), dir, "b.go") }, "b.go symlink"},
		"symlink inside":      {func(t *testing.T, dir string) { symlink(t, "a.go", dir, "b.go") }, "b.go symlink"},
		"dangling symlink":    {func(t *testing.T, dir string) { symlink(t, "nowhere", dir, "b.go") }, "b.go symlink"},
		"symlink to itself":   {func(t *testing.T, dir string) { symlink(t, "b.go", dir, "b.go") }, "b.go symlink"},
		"symlink to a device": {func(t *testing.T, dir string) { symlink(t, "/dev/zero", dir, "b.go") }, "b.go symlink"},
		"symlink to a folder": {func(t *testing.T, dir string) { symlink(t, "/", dir, "b.go") }, "b.go symlink"},
		"symlinked assembly":  {func(t *testing.T, dir string) { symlink(t, "a.go", dir, "b.s") }, "b.s symlink"},
		"hard link":           {func(t *testing.T, dir string) { hardlink(t, filepath.Join(secret, "secret"), dir, "b.go") }, "b.go hardlink"},
		"FIFO":                {func(t *testing.T, dir string) { fifo(t, dir, "b.go") }, "b.go special-file"},
		"FIFO as object":      {func(t *testing.T, dir string) { fifo(t, dir, "b.syso") }, "b.syso special-file"},
		"socket":              {func(t *testing.T, dir string) { socket(t, dir, "b.go") }, "b.go special-file"},
		"device":              {func(t *testing.T, dir string) { device(t, dir, "b.go") }, "b.go special-file"},
		"assembly":            {put("b.s", "TEXT"), "b.s file-type"},
		"linker script":       {put("b.syso", "INPUT(/etc/passwd)"), "b.syso file-type"},
		"C":                   {put("b.c", "int x;"), "b.c file-type"},
		"upper-case assembly": {put("b.S", "TEXT"), "b.S file-type"},
		"swig":                {put("b.swigcxx", "x"), "b.swigcxx file-type"},
		"capitals":            {put("Value.go", good), "Value.go file-name"},
		"dash":                {put("-flag.go", good), "-flag.go file-name"},
		"escape":              {put("b\x1b[31m\n.go", good), `"b\x1b[31m\n.go" file-name`},
		"dots":                {put("b.c.go", good), "b.c.go file-name"},
		"right to left":       {put("b\u202eog.go", good), `"b\u202eog.go" file-name`},
		"no base":             {put("b .go", good), "b .go file-name"},
		"long":                {put(strings.Repeat("b", 150)+".go", good), `"` + strings.Repeat("b", 80) + `"... file-name`},
		"the grader's own":    {put(APIFile, good), "zz_api.go file-name"},
		"other system":        {put("b_windows.go", good), "b_windows.go build-constraint"},
		"this system":         {put("b_linux_amd64.go", good), "b_linux_amd64.go build-constraint"},
		"one large file":      {put("b.go", good+strings.Repeat("//", MaxFileSize/2)), "b.go too-large"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree.New(t, map[string]string{"a.go": good})
			tt.make(t, dir)
			s := take(t, dir)
			if len(s.Problems) != 1 {
				t.Fatalf("problems %v, want one", s.Problems)
			}
			p := s.Problems[0]
			if got := p.File + " " + p.Rule; got != tt.want || p.Message == "" {
				t.Errorf("refused as %s (%s), want %s", got, p.Message, tt.want)
			}
			if got := names(s.Files); len(got) != 1 || got[0] != "a.go" {
				t.Errorf("taken %q, want a.go alone", got)
			}
		})
	}
}

func put(name, data string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func symlink(t *testing.T, target, dir, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func hardlink(t *testing.T, target, dir, name string) {
	t.Helper()
	if err := os.Link(target, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func TestSnapshotCaseFold(t *testing.T) {
	dir := tree.New(t, map[string]string{"ok.go": "package p\n"})
	put("OK.go", "package p\n")(t, dir)
	if entries, _ := os.ReadDir(dir); len(entries) == 1 {
		t.Skip("case does not matter on this file system")
	}
	s := take(t, dir)
	for _, p := range s.Problems {
		if p.File == "ok.go" && p.Rule == "file-name" && strings.Contains(p.Message, "OK.go") {
			return
		}
	}
	t.Errorf("problems %v, want ok.go and OK.go told apart", s.Problems)
}

func TestSnapshotCaps(t *testing.T) {
	t.Run("files", func(t *testing.T) {
		files := map[string]string{}
		for i := range 2 * MaxFiles {
			files[fmt.Sprintf("f%03d.go", i)] = "package p\n"
		}
		s := take(t, tree.New(t, files))
		if len(s.Files) != MaxFiles || len(s.Problems) != 1 || s.Problems[0].Rule != "too-many" {
			t.Errorf("%d files, problems %v", len(s.Files), s.Problems)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		files := map[string]string{}
		for i := range 5 {
			files[fmt.Sprintf("f%d.go", i)] = "package p\n" + strings.Repeat("\n", MaxFileSize-20)
		}
		s := take(t, tree.New(t, files))
		if len(s.Files) != 4 || len(s.Problems) != 1 || s.Problems[0].Rule != "too-large" || s.Problems[0].File != "f4.go" {
			t.Errorf("%d files, problems %v", len(s.Files), s.Problems)
		}
	})
	t.Run("ignored", func(t *testing.T) {
		files := map[string]string{"a.go": "package p\n"}
		for i := range maxIgnored + 7 {
			files[fmt.Sprintf("n%03d.txt", i)] = ""
		}
		s := take(t, tree.New(t, files))
		if len(s.Ignored) != maxIgnored+1 || s.Ignored[maxIgnored] != "and 7 more" {
			t.Errorf("ignored %q", s.Ignored)
		}
	})
	t.Run("entries", func(t *testing.T) {
		root, err := os.OpenRoot(tree.New(t, map[string]string{"a.go": "", "b": "", "c/d": "", "e": ""}))
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		for most, want := range map[int]bool{1: false, 3: false, 4: true, 5: true} {
			if entries, all, err := readEntries(root, most); err != nil || all != want || len(entries) > most+1 {
				t.Errorf("at most %d: %d entries, all %v, %v", most, len(entries), all, err)
			}
		}
	})
}

// The folder itself may be named by a link, because its name is an argument and not
// part of the submission.
func TestSnapshotOfLinkedFolder(t *testing.T) {
	dir := tree.New(t, map[string]string{"a.go": "package p\n"})
	link := filepath.Join(t.TempDir(), "link")
	symlink(t, dir, filepath.Dir(link), "link")
	s := take(t, link)
	if len(s.Files) != 1 || s.Dir != link {
		t.Errorf("%d files of %s", len(s.Files), s.Dir)
	}
}

// The package clause comes from the first file that parses.
func TestSnapshotPackage(t *testing.T) {
	s := take(t, tree.New(t, map[string]string{"a.go": "pakage p\n", "b.go": "//line x.go:900\npackage q\n"}))
	if s.Package != "q" || s.PackageFile != "b.go" || s.PackageLine != 2 {
		t.Errorf("package %q at %s:%d, want q at b.go:2", s.Package, s.PackageFile, s.PackageLine)
	}
	if s := take(t, tree.New(t, map[string]string{"a.go": "\x00"})); s.Package != "" {
		t.Errorf("package %q, want none", s.Package)
	}
}

// A change of the folder meanwhile leads to a refusal, never to another file's content.
func TestSnapshotWhileFilesChange(t *testing.T) {
	secret := tree.New(t, map[string]string{"secret": "canary"})
	dir := tree.New(t, map[string]string{"a.go": "package p\n", "real": "package p\n"})
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		path := filepath.Join(dir, "a.go")
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			next := filepath.Join(dir, "next")
			if i%2 == 0 {
				_ = os.Symlink(filepath.Join(secret, "secret"), next)
			} else {
				_ = os.WriteFile(next, []byte("package p\n"), 0o644)
			}
			_ = os.Rename(next, path)
		}
	}()
	for range 300 {
		s, err := Take(dir)
		if err != nil {
			t.Errorf("an error, not a refusal: %v", err)
			break
		}
		for _, f := range s.Files {
			if string(f.Data) != "package p\n" {
				t.Errorf("%s holds %q", f.Name, f.Data)
			}
		}
	}
	close(stop)
	<-done
}
