package wording

import (
	"strings"

	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

// CodeLine is a line of a submission's source.
type CodeLine struct {
	Number int
	Text   string
	Here   bool // the line that is meant
}

// Code returns a line of the source with those around it, as far as e has them. It is empty
// if e is.
func Code(line int, e verdict.Excerpt) (list []CodeLine) {
	if e == (verdict.Excerpt{}) {
		return nil
	}
	before := codeLines(e.Before)
	for i, s := range before {
		list = append(list, CodeLine{Number: line - len(before) + i, Text: codeText(s)})
	}
	list = append(list, CodeLine{Number: line, Text: codeText(e.Source), Here: true})
	for i, s := range codeLines(e.After) {
		list = append(list, CodeLine{Number: line + 1 + i, Text: codeText(s)})
	}
	return list
}

// codeAround is how many lines are shown on either side.
const codeAround = 2

// codeLines splits lines that each have a newline.
func codeLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.SplitN(strings.TrimSuffix(s, "\n"), "\n", codeAround+1)
	return lines[:min(len(lines), codeAround)]
}

func codeText(s string) string {
	return terminal.Excerpt(strings.ReplaceAll(s, "\t", strings.Repeat(" ", terminal.TabWidth)), MaxLine)
}
