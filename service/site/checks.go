package site

import (
	"cmp"
	"slices"
	"strings"

	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// checksView says which checks of an exercise fail most.
type checksView struct {
	Exercise string       `json:"exercise"`
	Title    string       `json:"title"`
	Students int          `json:"students"` // whose counted or else newest attempt was built and tested
	Checks   []failedView `json:"checks"`   // those that fail most first
	Stages   []stageCount `json:"stages"`
}

// Unfailed says that no check failed.
func (v checksView) Unfailed() string { return wording.Unfailed(v.Students) }

type (
	failedView struct {
		Name   string       `json:"name"`
		Hint   string       `json:"hint"`
		Failed int          `json:"failed"`
		Share  float64      `json:"share"`
		Who    []failedWith `json:"students"`
	}
	failedWith struct {
		Student string `json:"student"`
		Verdict string `json:"verdict"`
		Address string `json:"address"`
	}
	stageCount struct {
		Verdict string `json:"verdict"`
		Count   int    `json:"count"`
	}
)

func (q *request) checksPage() error {
	e, err := q.exercise()
	if err != nil {
		return err
	}
	book, err := q.book()
	if err != nil {
		return err
	}
	v := checksView{Exercise: e.Name, Title: e.Title, Checks: []failedView{}, Stages: []stageCount{}}
	failed, verdicts := map[string]*failedView{}, map[verdict.Verdict]int{}
	for _, entry := range book.Entries() {
		if entry.Exercise != e.Name {
			continue
		}
		a := cmp.Or(entry.Cell.Counts, entry.Cell.Shown())
		if a == nil {
			continue
		}
		if verdicts[a.Result.Verdict]++; a.Result.Verdict != verdict.Graded {
			continue
		}
		v.Students++
		for _, c := range a.Result.Checks {
			if !c.Verdict.Earns() && !wording.NotAsked(c) {
				f := failed[c.Name]
				if f == nil {
					f = &failedView{Name: c.Name, Hint: c.Hint}
					failed[c.Name] = f
				}
				f.Failed++
				f.Who = append(f.Who, failedWith{entry.Student, wording.CheckVerdict(c), storyOf(entry.Student) + "#" + e.Name})
			}
		}
	}
	for _, f := range failed {
		f.Share = float64(f.Failed) / float64(v.Students)
		v.Checks = append(v.Checks, *f)
	}
	slices.SortFunc(v.Checks, func(a, b failedView) int { return cmp.Or(b.Failed-a.Failed, strings.Compare(a.Name, b.Name)) })
	for _, kind := range []verdict.Verdict{verdict.Graded, verdict.CompileError, verdict.Invalid} {
		v.Stages = append(v.Stages, stageCount{wording.Verdict(kind), verdicts[kind]})
	}
	return q.show("checks", v)
}
