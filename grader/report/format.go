package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"grade/grader/gradebook"
	"grade/grader/verdict"
)

// Identity says whose submission was graded and what it is part of, for the formats
// that carry it. Whoever runs a grading knows it, and none of it is read from the
// submission. The zero Identity is that of nobody in particular.
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

	// Standing is what the submission counts under the rules of its course, which says what
	// each of them did; nil: no rules were asked. Its student may read all of it.
	Standing *gradebook.Cell
}

// A Format is one way to write a grading down, for one reader.
type Format struct {
	Name    string
	Summary string
	// Beside tells that its lines may follow the text report on standard output.
	Beside bool

	write     func(io.Writer, *verdict.Result, Identity) error // nil: not of a single grading
	book      func(io.Writer, *gradebook.Book) error           // nil: not of many
	noVerdict func(message string) any                         // nil: nothing is written, and an older report stays
	lacks     func(Identity) error                             // nil: needs no identity
	warnings  func(*gradebook.Book) []string                   // nil: none
}

// OfOne and OfMany report what a format can be written of.
func (f Format) OfOne() bool { return f.write != nil }

// OfMany is about a book of many gradings.
func (f Format) OfMany() bool { return f.book != nil }

// Warnings are what the reader of b in this format may take in another way than whoever
// asks for it thinks: a line each, for that person.
func (f Format) Warnings(b *gradebook.Book) []string {
	if f.warnings == nil {
		return nil
	}
	return f.warnings(b)
}

// WriteBook writes b. Nothing has been written if it could not be put into the format.
func (f Format) WriteBook(w io.Writer, b *gradebook.Book) error {
	if f.book == nil {
		return fmt.Errorf("write report %s: it is of one grading, not of many", f.Name)
	}
	return f.whole(w, func(w io.Writer) error { return f.book(w, b) })
}

// Formats are all formats, in the order in which help lists them.
func Formats() []Format {
	return []Format{
		{Name: "html", Summary: "a page for the student, or for who runs a course, complete in one file", write: writeHTML, book: writeCourse},
		{Name: "markdown", Summary: "a comment, at most 65,536 characters", write: writeMarkdown, book: writeMarkdownBook},
		{Name: "text", Summary: "what submit prints in a pipe", write: plainText},
		{Name: "json", Summary: "everything, as --json prints it; see: grade help json", write: anonymous(JSON), book: writeJSONBook},
		{Name: "junit", Summary: "JUnit XML, for Jenkins, GitLab, Artemis, CodeGrade", write: anonymous(writeJUnit), book: writeJUnitBook},
		{Name: "github-annotations", Summary: "workflow commands that mark lines and say the score", Beside: true, write: writeAnnotations, book: writeBookAnnotations},
		{Name: "github-summary", Summary: "a job's summary, for $GITHUB_STEP_SUMMARY", write: writeSummary, book: writeSummaryBook},
		{Name: "gitlab-codequality", Summary: "GitLab's report on code quality, beside the lines of a merge request", write: writeCodeQuality, book: writeBookCodeQuality},
		{Name: "csv", Summary: "the gradebook for a spreadsheet", book: writeCSV},
		{Name: "canvas", Summary: "the gradebook for Canvas to import", book: writeCanvas, warnings: canvasDoubts},
		{Name: "classroom50", Summary: "result.json of Classroom 50; who and what from its environment", write: writeClassroom50, lacks: lacksClassroom50},
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

// FormatNames are the names of all formats.
func FormatNames() []string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// Lacks says what is missing in id for this format, before anything is graded.
func (f Format) Lacks(id Identity) error {
	if f.lacks == nil {
		return nil
	}
	return f.lacks(id)
}

// Write writes r. Nothing has been written if it could not be put into the format.
func (f Format) Write(w io.Writer, r *verdict.Result, id Identity) error {
	if f.write == nil {
		return fmt.Errorf("write report %s: it is of many gradings, not of one", f.Name)
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

// TellsNoVerdict reports whether the format has a way to say that there is none.
// For one that has not, an older report is better than any that could be written.
func (f Format) TellsNoVerdict() bool { return f.noVerdict != nil }

// WriteNoVerdict says, in a format that [Format.TellsNoVerdict], that no grade was
// come by. The student reads the message: no error of ours belongs into it.
func (f Format) WriteNoVerdict(w io.Writer, message string) error {
	return writeJSON(w, f.noVerdict(plain(message)))
}

// anonymous is a writer that says nothing of whose submission it is.
func anonymous(write func(io.Writer, *verdict.Result) error) func(io.Writer, *verdict.Result, Identity) error {
	return func(w io.Writer, r *verdict.Result, _ Identity) error { return write(w, r) }
}

func plainText(w io.Writer, r *verdict.Result, id Identity) error {
	return Text(w, r, TextOptions{Standing: id.Standing})
}
