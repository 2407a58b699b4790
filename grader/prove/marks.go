package prove

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/mutate"
)

// marks reports marks in equivalent.yaml that name no mutant of the reference any more.
func (c *Checking) marks(ctx context.Context, course *course.Course) {
	marks, err := course.Equivalents(c.exercise.Name)
	c.problems(err)
	if len(marks) == 0 {
		return
	}
	faults, err := markFaults(ctx, c.exercise, marks)
	if err != nil {
		c.find(path.Join("reference", c.exercise.Name), 0, "no mutants can be made: %v", err)
	}
	c.report.Findings = append(c.report.Findings, faults...)
}

// markFaults finds the same marks as [Mutants]. It makes only the mutants that are marked, and
// all of them where a mark names none, to tell what may replace it.
func markFaults(ctx context.Context, e *course.Exercise, marks []course.Equivalent) ([]Finding, error) {
	named, err := mutate.Those(ctx, sources(e), func(id string) bool { return marked(marks, id) })
	if err != nil {
		return nil, fmt.Errorf("exercise %s: %w", e.Name, err)
	}
	if len(withoutMutant(marks, named)) == 0 {
		return nil, nil
	}
	_, faults, err := Mutants(ctx, e, marks)
	return faults, err
}

// withoutMutant returns the marks that name none of the mutants.
func withoutMutant(marks []course.Equivalent, mutants []mutate.Mutant) (list []course.Equivalent) {
	for _, x := range marks {
		if !slices.ContainsFunc(mutants, func(m mutate.Mutant) bool { return x.Marks(m.ID) }) {
			list = append(list, x)
		}
	}
	return list
}

func marked(marks []course.Equivalent, id string) bool {
	return slices.ContainsFunc(marks, func(x course.Equivalent) bool { return x.Marks(id) })
}

// successor names the mutants that may replace a marked one: by the same operator in
// the same function, and without a mark.
func successor(x course.Equivalent, mutants []mutate.Mutant, marks []course.Equivalent) string {
	prefix := x.Mutant[:strings.LastIndex(x.Mutant, ":")+1]
	var ids []string
	for _, m := range mutants {
		if prefix != "" && strings.HasPrefix(m.ID, prefix) && !marked(marks, m.ID) {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return " (perhaps into " + strings.Join(ids, " or ") + ")"
}

func markFault(e *course.Exercise, x course.Equivalent, fault string) Finding {
	return Finding{path.Join("exercises", e.Name, "equivalent.yaml"), x.Line, fmt.Sprintf("%s %s; remove it", x.Mutant, fault)}
}
