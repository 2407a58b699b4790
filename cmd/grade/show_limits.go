package main

import (
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/lang/golang"
)

// limitsOf lists everything that can end a grading of an exercise, in Markdown.
func limitsOf(e *course.Exercise) string {
	list := slices.Concat([]string{golang.BuildLimits()}, grader.Limits(e), e.Limits.Beside())
	return "## Limits of " + e.Name + "\n\n- " + strings.Join(list, "\n- ") + "\n"
}
