package vet

import (
	"fmt"
	"strconv"
	"strings"

	"grade/grader/submission"
	"grade/grader/verdict"
)

// maxReport caps the bytes of a report.
const maxReport = 256 << 10

// AppendReport writes problems for [ParseReport], one a line: file:line, rule and
// message, separated by tabs.
func AppendReport(b []byte, problems []verdict.Problem) []byte {
	for _, p := range problems[:min(len(problems), verdict.MaxProblems)] {
		b = fmt.Appendf(b, "%s:%d\t%s\t%s\n", verdict.Clip(p.File, submission.MaxNameSize), p.Line, verdict.Clip(p.Rule, 40), verdict.Clip(p.Message, 400))
	}
	return b
}

// ParseReport reads the report of AppendReport. It comes out of a sandbox, so that
// any line of another form is an error.
func ParseReport(report []byte) ([]verdict.Problem, error) {
	if len(report) > maxReport {
		return nil, fmt.Errorf("parse the vet's report: %d bytes, more than %d", len(report), maxReport)
	}
	var problems []verdict.Problem
	for line := range strings.Lines(string(report)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 || len(problems) == verdict.MaxProblems {
			return nil, fmt.Errorf("parse the vet's report: line %d is not file:line, rule and message", len(problems)+1)
		}
		i := strings.LastIndexByte(fields[0], ':')
		number, err := strconv.Atoi(fields[0][i+1:])
		if i < 0 || err != nil || number < 0 || fields[1] == "" {
			return nil, fmt.Errorf("parse the vet's report: line %d has no place or no rule", len(problems)+1)
		}
		problems = append(problems, verdict.Problem{
			File: verdict.Clip(fields[0][:i], submission.MaxNameSize), Line: number, Rule: verdict.Clip(fields[1], 40), Message: verdict.Clip(fields[2], 400)})
	}
	return problems, nil
}
