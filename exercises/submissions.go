package exercises

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Class is why a submission is shipped with an exercise, and the name of the
// folder it is in. The zero value is invalid.
type Class string

// The classes. Those without a comment hold submissions that a check must fail
// with the verdict of that name.
const (
	Accepted      Class = "accepted" // right: all points, whatever its shape
	WrongAnswer   Class = "wrong_answer"
	RuntimeError  Class = "runtime_error"
	TimeLimit     Class = "time_limit"
	MemoryLimit   Class = "memory_limit"
	TooSlow       Class = "too_slow"
	TooMuchMemory Class = "too_much_memory"
	CompileError  Class = "compile_error" // must not compile
	Invalid       Class = "invalid"       // must be refused before anything is built
	Forgery       Class = "forgery"       // must not gain a point by its trick
)

// Classes are the valid classes.
var Classes = []Class{Accepted, WrongAnswer, RuntimeError, TimeLimit, MemoryLimit, TooSlow, TooMuchMemory,
	CompileError, Invalid, Forgery}

// Submission is a submission that an exercise is tested with.
type Submission struct {
	Class  Class
	Name   string // <class>/<why>
	Dir    string // slash-separated, below the course's root
	Files  []File // without the expect.yaml
	Expect Expect
}

var whyGrammar = regexp.MustCompile(`^[a-z0-9]+([-_][a-z0-9]+)*$`)

// Submissions reads the submissions shipped with an exercise, sorted by name. An
// error names every fault, each as a [Problem]; those without one are returned all the
// same. It wraps [fs.ErrNotExist]
// when there is no folder of submissions, as in a course that is embedded in a
// program: a test of no submissions at all must not pass for one.
func (c *Course) Submissions(name string) ([]Submission, error) {
	e, err := c.Load(name)
	if err != nil {
		return nil, err
	}
	p := &problems{doing: "load submissions of " + name}
	root := path.Join(exercisesDir, name, submissionsDir)
	classes, err := fs.ReadDir(c.fsys, root)
	if err != nil {
		p.add(submissionsDir, 0, "%w: nothing shows what the exercise lets pass, and what it stops", reason(err))
		return nil, p.join()
	}
	r := submissionReader{problems: p, fsys: c.fsys, root: root, checks: e.Checks, faulty: map[string]bool{}}
	for _, class := range classes {
		if !class.IsDir() || !slices.Contains(Classes, Class(class.Name())) {
			p.add(path.Join(submissionsDir, class.Name()), 0, "not a class of submissions")
			continue
		}
		r.class(Class(class.Name()))
	}
	r.twins()
	return r.sound(), p.join()
}

type submissionReader struct {
	*problems
	fsys   fs.FS
	root   string
	checks []Check
	list   []Submission
	faulty map[string]bool // by name
}

func (r *submissionReader) class(class Class) {
	entries, err := fs.ReadDir(r.fsys, path.Join(r.root, string(class)))
	if err != nil {
		r.add(path.Join(submissionsDir, string(class)), 0, "%w", reason(err))
		return
	}
	for _, entry := range entries {
		name := path.Join(string(class), entry.Name())
		if !entry.IsDir() || !whyGrammar.MatchString(entry.Name()) {
			r.add(path.Join(submissionsDir, name), 0, "want a folder whose name is made of a to z, 0 to 9, - and _")
			continue
		}
		r.submission(class, name)
	}
}

func (r *submissionReader) submission(class Class, name string) {
	s := Submission{Class: class, Name: name, Dir: path.Join(r.root, name)}
	shown := path.Join(submissionsDir, name)
	files, err := readTree(r.fsys, s.Dir)
	if err != nil {
		r.add(shown, 0, "%w", reason(err))
		return
	}
	at := slices.IndexFunc(files, func(f File) bool { return f.Name == expectFile })
	if at < 0 {
		r.add(path.Join(shown, expectFile), 0, "%w", fs.ErrNotExist)
		return
	}
	before := len(r.problems.list)
	s.Expect = readExpect(files[at].Data, class, r.checks, document{r.problems, path.Join(shown, expectFile)})
	s.Files = slices.Delete(files, at, at+1)
	if !slices.ContainsFunc(s.Files, func(f File) bool { return strings.HasSuffix(f.Name, ".go") }) {
		r.add(shown, 0, "no Go file: there is nothing to grade")
	}
	if len(r.problems.list) > before {
		r.faulty[name] = true
	}
	r.list = append(r.list, s)
}

// twins makes sure that every twin exists, and is another submission.
func (r *submissionReader) twins() {
	for _, s := range r.list {
		exists := slices.ContainsFunc(r.list, func(t Submission) bool { return t.Name == s.Expect.Twin })
		if s.Expect.Twin != "" && (!exists || s.Expect.Twin == s.Name) {
			r.faulty[s.Name] = true
			r.add(path.Join(submissionsDir, s.Name, expectFile), s.Expect.Line("twin"), "twin: no other submission %q", s.Expect.Twin)
		}
	}
}

// sound are those without a fault, of their own or of a twin's.
func (r *submissionReader) sound() []Submission {
	list := r.list
	for before := -1; before != len(r.faulty); {
		before = len(r.faulty)
		list = slices.DeleteFunc(slices.Clone(list), func(s Submission) bool {
			if r.faulty[s.Expect.Twin] {
				r.faulty[s.Name] = true
			}
			return r.faulty[s.Name]
		})
	}
	return list
}
