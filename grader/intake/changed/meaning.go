package changed

import (
	"path"
	"strings"

	"grade/grader/intake/repository"
	"grade/grader/submission"
)

// facts decide what a changed name means.
type facts struct {
	kind     repository.Kind // in the newer commit
	owned    bool            // it lies in a student's folder, or is that folder
	foreign  bool            // and the student is not the one that is graded
	noChange bool            // everything is looked at: that a name is there is no change
	fits     bool            // it is where a submission is
	listed   bool            // of an exercise of the course, or of one that only the package says
	onTheWay bool            // it is where a folder above submissions is
	looks    bool            // it looks like a submission, wherever it is
	archive  bool            // a file that is one, and would be a submission if it were a folder
	byPlace  bool            // its place says of which exercise it is
}

// meaning says what a changed name stands for. The zero value is invalid.
type meaning string

const (
	unchanged meaning = "unchanged" // another student's, and no change was asked about
	foreign   meaning = "foreign"   // another student's: it should not be changed
	graded    meaning = "graded"    // a submission
	deleted   meaning = "deleted"   // a submission that is gone
	link      meaning = "link"      // in place of a folder: what lies behind it would not be graded
	malformed meaning = "malformed" // a folder that no git has written
	unknown   meaning = "unknown"   // a submission of no exercise, by its place or its looks
	archive   meaning = "archive"   // in place of a folder: it is not graded
	outside   meaning = "outside"   // nothing that is graded
)

// cases are in order: the first that holds decides. That a folder is another student's comes
// before all that lies in it, so that a link, a submodule or a deletion there is told as
// well; and a link before whatever it could pass for.
var cases = []struct {
	when  string
	holds func(facts) bool
	means meaning
}{
	{"another student's, where everything is looked at", func(f facts) bool { return f.foreign && f.noChange }, unchanged},
	{"another student's, whatever it is", func(f facts) bool { return f.foreign }, foreign},
	{"what no git writes, in no submission's place", func(f facts) bool { return f.kind == repository.Malformed && !(f.fits && f.listed) }, malformed},
	{"an archive in the place of a submission", func(f facts) bool { return f.archive && f.kind == repository.File }, archive},
	{"a folder in the place of a submission, of no exercise", func(f facts) bool { return f.fits && !f.listed && f.kind == repository.Folder }, unknown},
	{"anything else in such a place", func(f facts) bool { return f.fits && !f.listed }, outside},
	{"a file beside submissions whose place does not say the exercise", func(f facts) bool { return f.fits && !f.byPlace && f.kind == repository.File }, outside},
	{"nothing, where a submission was", func(f facts) bool { return f.fits && f.kind == repository.Absent }, deleted},
	{"anything in the place of a submission", func(f facts) bool { return f.fits }, graded}, // a link is refused when it is read
	{"a link or a submodule in place of a folder above submissions", func(f facts) bool { return f.onTheWay && isLink(f.kind) }, link},
	{"in a student's folder, and it looks like a submission", func(f facts) bool { return f.owned && f.looks }, unknown},
	{"anything else", func(facts) bool { return true }, outside},
}

// meaningOf returns the meaning of a changed name.
func meaningOf(f facts) meaning {
	for _, c := range cases {
		if c.holds(f) {
			return c.means
		}
	}
	return outside
}

func isLink(k repository.Kind) bool { return k == repository.Link || k == repository.Module }

// looksLikeOne reports whether a change looks like a submission, by its kind and its name.
func looksLikeOne(c repository.Change) bool {
	name := path.Base(c.Name)
	return c.Kind == repository.Folder && !strings.HasPrefix(name, ".") ||
		c.Kind == repository.File && (submission.IsSource(name) || submission.IsArchive(name))
}
