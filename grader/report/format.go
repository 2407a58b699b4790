package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"grade/grader/gradebook"
	"grade/grader/report/page"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// Identity names the student of a submission and what the submission belongs to, for the
// formats that carry it. It comes from the environment of the grading, never from the
// submission. The zero Identity names no student.
type Identity struct {
	Student    string // a login or a name
	Classroom  string
	Assignment string
	Group      bool   // of an assignment for several students
	Submission string // the tag that was graded
	Commit     string // links
	Release    string
	Review     string
	Committed  string // when the graded commit was, as git show -s --format=%cI prints it
	Actor      string // who pushed it
	ActorID    int64  // 0: unknown
	Folder     string // the submission's folder, with slashes, from the repository's root

	// Counted is what the submission counts under the rules of its course; nil: no rules
	// were applied. The student may read all of it.
	Counted *gradebook.Cell
}

// A Format writes a grading for one kind of reader.
type Format struct {
	Name    string
	Summary string
	// Beside tells that the format's lines may follow the text report on standard output.
	Beside bool

	write     func(io.Writer, *verdict.Result, Identity) error   // nil: the format has no report of a single grading
	course    func(io.Writer, *gradebook.Book) error             // nil: the format has no report of many
	linked    func(io.Writer, *gradebook.Book, page.Pages) error // nil: a report of many has no links
	noVerdict func(message string) any                           // nil: nothing is written, and an older report stays
	lacks     func(Identity) error                               // nil: needs no identity
	warnings  func(*gradebook.Book) []string                     // nil: none
}

// OfOne reports whether the format has a report of a single grading.
func (f Format) OfOne() bool { return f.write != nil }

// NeedsIdentity reports whether a report says whose it is by what its environment says.
func (f Format) NeedsIdentity() bool { return f.lacks != nil }

// OfMany reports whether the format has a report of a whole course.
func (f Format) OfMany() bool { return f.course != nil }

// Warnings lists, for the teacher, what a program that reads b in this format would
// misread, a line each.
func (f Format) Warnings(b *gradebook.Book) []string {
	if f.warnings == nil {
		return nil
	}
	return f.warnings(b)
}

// LinkedTo returns the format with links in its reports of many to the pages of single
// submissions, where it can have any.
func (f Format) LinkedTo(pages page.Pages) Format {
	if f.linked != nil {
		f.course = func(w io.Writer, b *gradebook.Book) error { return f.linked(w, b, pages) }
	}
	return f
}

// unlinked adapts a writer for a report without links.
func unlinked(write func(io.Writer, *gradebook.Book, page.Pages) error) func(io.Writer, *gradebook.Book) error {
	return func(w io.Writer, b *gradebook.Book) error { return write(w, b, nil) }
}

// WriteCourse writes b. It writes nothing if b cannot be put into the format.
func (f Format) WriteCourse(w io.Writer, b *gradebook.Book) error {
	if f.course == nil {
		return fmt.Errorf("write report %s: the format holds one grading, not many", f.Name)
	}
	return f.whole(w, func(w io.Writer) error { return f.course(w, b) })
}

// Formats returns all formats, in the order of the help text.
func Formats() []Format {
	return []Format{
		{Name: "html", Summary: "a page for the student, or for the teachers of a course, complete in one file", write: writeHTML, linked: page.Course, course: unlinked(page.Course)},
		{Name: "markdown", Summary: "a comment, at most 65,536 characters", write: writeMarkdown, course: writeMarkdownCourse},
		{Name: "text", Summary: "plain text with every check, without colour", write: plainText},
		{Name: "json", Summary: "everything, by a published JSON Schema", write: anonymous(JSON), course: writeJSONCourse},
		{Name: "junit", Summary: "JUnit XML, for Jenkins, GitLab, Artemis, CodeGrade", write: anonymous(writeJUnit), course: writeJUnitCourse},
		{Name: "github-annotations", Summary: "workflow commands that mark lines and say the score", Beside: true, write: writeAnnotations, course: writeCourseAnnotations},
		{Name: "github-summary", Summary: "a job's summary, for $GITHUB_STEP_SUMMARY", write: writeSummary, course: writeSummaryCourse},
		{Name: "gitlab-codequality", Summary: "GitLab's report on code quality, beside the lines of a merge request", write: writeCodeQuality, course: writeCourseCodeQuality},
		{Name: "csv", Summary: "the gradebook for a spreadsheet", course: writeCSV},
		{Name: "canvas", Summary: "the gradebook for Canvas to import", course: writeCanvas, warnings: canvasWarnings},
		{Name: "classroom50", Summary: "result.json of Classroom 50; student and assignment come from its environment", write: writeClassroom50, lacks: lacksClassroom50},
		{Name: "github-classroom", Summary: "a runner's result of GitHub Classroom", write: anonymous(writeGitHubClassroom)},
		{Name: "github-classroom-base64", Summary: "the same as a step's output has it", write: anonymous(writeGitHubClassroomBase64)},
		{Name: "gradescope", Summary: "results.json of Gradescope", write: anonymous(writeGradescope), noVerdict: gradescopeNoVerdict},
		{Name: "prairielearn", Summary: "results.json of PrairieLearn", write: anonymous(writePrairieLearn), noVerdict: prairieLearnNoVerdict},
		{Name: "exercism", Summary: "results.json of an Exercism test runner, version 3", write: anonymous(writeExercism)},
	}
}

// FormatNamed finds a format.
func FormatNamed(name string) (Format, bool) {
	all := Formats()
	i := slices.IndexFunc(all, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return all[i], true
}

// FormatNames returns the names of all formats.
func FormatNames() []string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// Lacks returns an error that names what id lacks for this format. A caller asks before it
// grades.
func (f Format) Lacks(id Identity) error {
	if f.lacks == nil {
		return nil
	}
	return f.lacks(id)
}

// Write writes r. It writes nothing if r cannot be put into the format.
func (f Format) Write(w io.Writer, r *verdict.Result, id Identity) error {
	if f.write == nil {
		return fmt.Errorf("write report %s: the format holds many gradings, not one", f.Name)
	}
	return f.whole(w, func(w io.Writer) error { return f.write(w, r, id) })
}

// whole writes all of a report or nothing.
func (f Format) whole(w io.Writer, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("write report %s: %w", f.Name, err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write report %s: %w", f.Name, err)
	}
	return nil
}

// TellsNoVerdict reports whether the format can say that there is no verdict. For any other
// format, an older report is better than a new one.
func (f Format) TellsNoVerdict() bool { return f.noVerdict != nil }

// WriteNoVerdict says that there is no grade, in a format that [Format.TellsNoVerdict]. The
// student reads the message: no error of ours belongs into it.
func (f Format) WriteNoVerdict(w io.Writer, message string) error {
	return writeJSON(w, f.noVerdict(wording.Plain(message)))
}

// anonymous adapts a writer that needs no identity.
func anonymous(write func(io.Writer, *verdict.Result) error) func(io.Writer, *verdict.Result, Identity) error {
	return func(w io.Writer, r *verdict.Result, _ Identity) error { return write(w, r) }
}

func plainText(w io.Writer, r *verdict.Result, id Identity) error {
	return Text(w, r, TextOptions{Counted: id.Counted, Verbose: true})
}
