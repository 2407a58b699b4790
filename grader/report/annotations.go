package report

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"grade/grader/gradebook"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// maxAnnotations is the number of annotations of one kind that a step of GitHub Actions
// shows. The last one counts those that are left out.
const maxAnnotations = 10

// An annotation is a workflow command that puts a message beside a line of a file.
type annotation struct {
	level   string // error, warning or notice
	file    string // empty: beside no file
	line    int    // 0: the file as a whole
	title   string
	message string
}

// writeAnnotations writes r as workflow commands of GitHub Actions, a line each: problems
// of the source at their file and line, what else is to be mended, warnings, the score.
// Every line is one of ours: text from elsewhere stands behind "::" and has no end of
// line. Print it as it is, in a step where workflow commands are not stopped.
func writeAnnotations(w io.Writer, r *verdict.Result, id Identity) error {
	said := wording.Paragraphs(append([]string{wording.Headline(r)}, wording.CountedResult(id.Counted, wording.MaxPoints(r))...)...)
	return writeCommands(w, problemAnnotations(r, id), checkAnnotations(r, id), annotation{level: "notice", title: wording.Name(r.Exercise), message: said})
}

// writeCourseAnnotations writes b in the same way: problems at their lines, and for each
// submission one warning beside its folder, because GitHub shows so few. The notice counts
// what was graded.
func writeCourseAnnotations(w io.Writer, b *gradebook.Book) error {
	var problems, warnings []annotation
	for _, s := range wording.Submissions(b) {
		if r := s.Result(); r != nil {
			problems = append(problems, problemAnnotations(r, Identity{Folder: s.Folder})...)
		}
		if a, ok := submissionAnnotation(s); ok {
			warnings = append(warnings, a)
		}
	}
	return writeCommands(w, problems, warnings, annotation{level: "notice", title: wording.Title(b), message: wording.TallyOf(b).String()})
}

func writeCommands(w io.Writer, problems, warnings []annotation, notice annotation) error {
	for _, a := range slices.Concat(capped(problems), capped(warnings), []annotation{notice}) {
		if _, err := io.WriteString(w, a.command()); err != nil {
			return err
		}
	}
	return nil
}

// submissionAnnotation lists the checks that a submission did not pass, or says that it has
// no verdict. A folder has no line.
func submissionAnnotation(s wording.Submission) (annotation, bool) {
	said := wording.Notes(s.Cell)
	for _, c := range s.Failed() {
		said = append(said, wording.Name(c.Name)+" "+wording.Points(c)+", "+wording.Paragraphs(wording.CheckVerdict(c), wording.Explain(c)))
	}
	if s.Cell.Missing != nil {
		said = append(said, wording.NoVerdict(s.Cell.Missing))
	}
	if len(s.Failed()) == 0 && s.Cell.Missing == nil {
		return annotation{}, false
	}
	return annotation{level: "warning", file: wording.Whole(s.Folder), title: wording.Name(s.Student) + ", " + wording.Name(s.Exercise) + ": " + s.Headline(), message: wording.Paragraphs(said...)}, true
}

// problemAnnotations returns problems as errors. Nothing else is an error, because the caps
// are per level.
func problemAnnotations(r *verdict.Result, id Identity) (list []annotation) {
	for _, p := range r.Problems {
		list = append(list, annotation{level: "error", file: inRepository(id, p.File), line: p.Line, title: wording.Name(p.Rule), message: wording.Plain(p.Message)})
	}
	return list
}

// inRepository returns the path of a submission's file in the repository. It does not join
// a name with a slash to the folder, because the result could point elsewhere.
func inRepository(id Identity, file string) string {
	if len(id.Folder)+len(file) > maxPath {
		return "" // no file has such a name
	}
	if file == "" || strings.ContainsAny(file, `/\`) {
		return wording.Whole(file)
	}
	return path.Join(wording.Whole(id.Folder), wording.Whole(file))
}

// checkAnnotations returns what is to be mended as warnings, each at the line where it went
// wrong, if that is known: a student has to look at the errors first.
func checkAnnotations(r *verdict.Result, id Identity) (list []annotation) {
	for _, x := range wording.Troubles(r) {
		c := x.Check
		a := annotation{level: "warning", title: wording.Name(c.Name) + " " + wording.Points(c)}
		a.message = wording.Paragraphs(append([]string{wording.CheckVerdict(c), wording.Explain(c)}, x.Followers(0)...)...)
		if len(c.Places) > 0 {
			a.file, a.line = inRepository(id, c.Places[0].File), c.Places[0].Line
		}
		list = append(list, a)
	}
	for _, w := range wording.Warnings(r) {
		list = append(list, annotation{level: "warning", title: wording.Name(r.Exercise), message: w})
	}
	return list
}

// capped drops the annotations that GitHub would not show.
func capped(list []annotation) []annotation {
	if len(list) <= maxAnnotations {
		return list
	}
	rest := annotation{level: list[0].level, title: "More", message: fmt.Sprintf("… and %d more in the report", len(list)-maxAnnotations+1)}
	return append(list[:maxAnnotations-1:maxAnnotations-1], rest)
}

// command returns the line that the runner reads.
func (a annotation) command() string {
	var props []string
	if a.file != "" {
		props = append(props, "file="+escapeProperty.Replace(a.file))
		if a.line > 0 {
			props = append(props, fmt.Sprintf("line=%d", a.line))
		}
	}
	if a.title != "" {
		props = append(props, "title="+escapeProperty.Replace(a.title))
	}
	return "::" + a.level + " " + strings.Join(props, ",") + "::" + escapeData.Replace(a.message) + "\n"
}

// The escapes of the runner's own toolkit: what it decodes, and no more.
var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
