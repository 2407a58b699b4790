package vet

import (
	"fmt"
	"strconv"
	"strings"

	"grade/grader/submission"
	"grade/grader/verdict"
)

// maxReport is how many bytes of a report are read.
const maxReport = 256 << 10

// AppendReport writes problems as typed hands them over: one a line, file:line,
// rule and message with tabs between.
func AppendReport(b []byte, problems []verdict.Problem) []byte {
	for _, p := range problems[:min(len(problems), verdict.MaxProblems)] {
		b = fmt.Appendf(b, "%s:%d\t%s\t%s\n", verdict.Clip(p.File, submission.MaxNameSize), p.Line, verdict.Clip(p.Rule, 40), verdict.Clip(p.Message, 400))
	}
	return b
}

// ParseReport reads what AppendReport wrote. The report comes out of a sandbox:
// whatever else is in it is an error.
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
