package wording

import (
	"slices"

	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

// Section holds the checks of one kind, and what they add up to.
type Section struct {
	Title       string
	Points, Max int
	Checks      []verdict.CheckResult
}

// Sections sorts checks by kind, in the order of [Kinds]. A kind that is not among them has
// a section at the end, so that nothing that counts is left out.
func Sections(checks []verdict.CheckResult) []*Section {
	byKind := map[string]*Section{}
	var all []*Section
	for _, k := range Kinds {
		byKind[k.Kind] = &Section{Title: k.title}
		all = append(all, byKind[k.Kind])
	}
	for _, c := range checks {
		s := byKind[c.Kind]
		if s == nil {
			s = &Section{Title: terminal.Escape(c.Kind)}
			byKind[c.Kind] = s
			all = append(all, s)
		}
		s.Points, s.Max, s.Checks = s.Points+c.Points, s.Max+c.MaxPoints, append(s.Checks, c)
	}
	return slices.DeleteFunc(all, func(s *Section) bool { return len(s.Checks) == 0 })
}
