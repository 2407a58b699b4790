package grader

import (
	"bytes"
	"slices"
	"strings"

	"grade/grader/submission"
	"grade/grader/verdict"
)

// The caps on what a result quotes of a submission's source.
const (
	maxSourceLine = 160 // bytes of a line
	linesAround   = 2   // on either side of the line that is meant
)

// excerptOf quotes a line of a snapshot with the lines around it. It is empty where the
// snapshot has no such line.
func excerptOf(s *submission.Snapshot, name string, line int) (e verdict.Excerpt) {
	i := slices.IndexFunc(s.Files, func(f submission.File) bool { return f.Name == name })
	if i < 0 || line < 1 {
		return e
	}
	lines := bytes.Split(s.Files[i].Data, []byte("\n"))
	if line > len(lines) {
		return e
	}
	at := line - 1
	e.Source = sourceLine(lines[at])
	e.Before = sourceLines(lines[max(0, at-linesAround):at])
	e.After = sourceLines(lines[line:min(len(lines), line+linesAround)])
	return e
}

// sourceLines returns lines, each with its newline.
func sourceLines(lines [][]byte) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(sourceLine(l) + "\n")
	}
	return b.String()
}

// sourceLine returns the beginning of a line, as text.
func sourceLine(b []byte) string {
	b = bytes.TrimSuffix(b[:min(len(b), maxSourceLine)], []byte("\r"))
	return strings.ToValidUTF8(string(b), "")
}

// quoteProblems adds the source to problems that have a place in it.
func quoteProblems(s *submission.Snapshot, problems []verdict.Problem) []verdict.Problem {
	problems = slices.Clone(problems)
	for i, p := range problems {
		problems[i].Excerpt = excerptOf(s, p.File, p.Line)
	}
	return problems
}

// quotePlaces adds the source to the places of a check.
func quotePlaces(s *submission.Snapshot, places []verdict.Place) []verdict.Place {
	places = slices.Clone(places)
	for i, p := range places {
		places[i].Excerpt = excerptOf(s, p.File, p.Line)
	}
	return places
}
