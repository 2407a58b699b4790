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

// writeCodeQuality writes r as a code quality report of GitLab, which shows in a merge
// request what has changed. Problems of the source are at their lines. Failed checks are at
// the first file, because they have no line and GitLab opens no folder.
func writeCodeQuality(w io.Writer, r *verdict.Result, id Identity) error {
	q := quality{list: []qualityIssue{}}
	q.add(r, id.Folder, "")
	return writeJSON(w, q.list)
}

// writeCourseCodeQuality writes b in the same way. It leaves out submissions without a
// verdict: a missing verdict says nothing about the code.
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

// add adds a submission in folder. Each description begins with the name of its student.
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
		if c.Verdict.Earns() || wording.NotAsked(c) {
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
		at, line := file, 1
		if len(c.Places) > 0 {
			at, line = inside(folder, c.Places[0].File), c.Places[0].Line
		}
		q.issue(at, line, "grade/"+wording.Whole(c.Name), severity, said)
	}
}

// issue adds an issue. Its fingerprint does not depend on the line, so that GitLab
// recognises it in a later report; GitLab takes issues with equal fingerprints for one.
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

// maxPath bounds the path of a file, in bytes: Linux has no longer ones.
const maxPath = 4096

// inside returns the path of a submission's file in the repository, or of the folder.
// GitLab makes a link of it, which must not lead out of the repository; an impossible name
// becomes the root.
func inside(folder, file string) string {
	if len(folder)+len(file) < maxPath {
		if at := path.Join(wording.Whole(folder), wording.Whole(file)); fs.ValidPath(at) {
			return at
		}
	}
	return "."
}
