package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"

	"grade/grader/gradebook"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// What GitLab reads of a report on code quality; of Code Climate's format it knows no more.
type (
	qualityIssue struct {
		Description string          `json:"description"`
		CheckName   string          `json:"check_name"`
		Fingerprint string          `json:"fingerprint"`
		Severity    string          `json:"severity"`
		Location    qualityLocation `json:"location"`
	}
	qualityLocation struct {
		Path  string       `json:"path"` // of a file, from the repository's root
		Lines qualityLines `json:"lines"`
	}
	qualityLines struct {
		Begin int `json:"begin"` // from 1
	}
)

// The severities that are used, of GitLab's five.
const (
	severityProblem = "blocker" // none of it was run
	severityWrong   = "major"
	severityCost    = "minor" // right, and too slow or too large
)

// writeCodeQuality writes r as a report on code quality of GitLab, which a merge request
// shows what has changed in: problems of the source at their lines, and checks that did
// not pass at the first file, since they are at no line and a folder cannot be opened.
func writeCodeQuality(w io.Writer, r *verdict.Result, id Identity) error {
	q := quality{list: []qualityIssue{}}
	q.add(r, id.Folder, "")
	return writeJSON(w, q.list)
}

// writeCourseCodeQuality writes b in the same way. What has no verdict is left out: it says
// nothing about anybody's code.
func writeCourseCodeQuality(w io.Writer, b *gradebook.Book) error {
	q := quality{list: []qualityIssue{}}
	for _, s := range wording.Submissions(b) {
		if r := s.Result(); r != nil {
			q.add(r, s.Folder, wording.Name(s.Student)+", "+wording.Name(s.Exercise)+": ")
		}
	}
	return writeJSON(w, q.list)
}

// quality is a report being written.
type quality struct {
	list []qualityIssue
	seen map[string]int // how often the same was said of the same place
}

// add adds a submission in folder. Each description begins with whose it is.
func (q *quality) add(r *verdict.Result, folder, whose string) {
	for _, p := range r.Problems {
		q.issue(inside(folder, p.File), p.Line, "grade/"+wording.Name(p.Rule), severityProblem, whose+cmp.Or(wording.Squeezed(p.Message), wording.Verdict(r.Verdict)))
	}
	if r.Verdict != verdict.Graded {
		return
	}
	file := inside(folder, "")
	if len(r.Submission.Files) > 0 {
		file = inside(folder, r.Submission.Files[0])
	}
	for _, c := range r.Checks {
		if c.Verdict == verdict.Passed || wording.NotAsked(c) {
			continue
		}
		severity := severityWrong
		if c.Verdict == verdict.TooSlow || c.Verdict == verdict.TooMuchMemory {
			severity = severityCost
		}
		said := fmt.Sprintf("%s%s %s, %s", whose, wording.Name(c.Name), wording.Points(c), wording.CheckVerdict(c))
		if hint := wording.OneLine(c.Hint); hint != "" {
			said += ": " + hint
		}
		q.issue(file, 1, "grade/"+wording.Whole(c.Name), severity, said)
	}
}

// issue adds one. Its fingerprint is that of the same thing in an earlier report, wherever
// its line is by now; GitLab takes equal ones for one issue.
func (q *quality) issue(file string, line int, check, severity, description string) {
	if q.seen == nil {
		q.seen = map[string]int{}
	}
	same := fmt.Sprintf("%q %q %q", file, check, description)
	q.seen[same]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", same, q.seen[same]))
	q.list = append(q.list, qualityIssue{
		Description: description, CheckName: check, Fingerprint: hex.EncodeToString(sum[:]), Severity: severity,
		Location: qualityLocation{Path: file, Lines: qualityLines{Begin: max(1, line)}},
	})
}

// maxPath is how long the name of a file can be, in bytes, where there are files.
const maxPath = 4096

// inside is where a file of a submission is in the repository, or the folder itself. GitLab
// makes a link of it, which must not lead out; what can be nowhere is in the root.
func inside(folder, file string) string {
	if len(folder)+len(file) < maxPath {
		if at := path.Join(wording.Whole(folder), wording.Whole(file)); fs.ValidPath(at) {
			return at
		}
	}
	return "."
}
