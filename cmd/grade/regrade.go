package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/batch"
	"grade/grader/gradebook"
	"grade/grader/prove"
	"grade/grader/report/terminal"
	"grade/grader/results"
	"grade/grader/results/file"
)

type regradeOptions struct {
	proving
	results string
	policy  string
	diff    bool
	apply   bool
}

func newRegrade(a *app) *cobra.Command {
	o := &regradeOptions{proving: proving{app: a, workers: runtime.NumCPU() + 1}}
	cmd := &cobra.Command{
		Use:     "regrade",
		Short:   "Show what a change of an exercise does to kept results, and make it hold",
		GroupID: groupAuthors,
		Long: `Grade every attempt in a folder of results anew whose exercise has changed since, or
grade, Go or the image, from the files that grade batch has kept, and with the inputs of
its old grading: whose result changes, by how much and by which check, and what of that
counts under the rules of the course.

Nothing that holds is changed. What was graded is kept beside it, so that --apply makes
it hold without grading it again: then a line for each attempt is added to the results.
An attempt that loses points for memory or speed is graded twice, and the better counts.

The exit status is 1 if a score differs and nothing was applied, and 3 if there is an
attempt that could not be graded: its result stays what it was.`,
		Example: `  grade regrade --results grades --diff
  grade regrade --results grades --apply
  grade regrade --results grades --course ../course --json > changes.json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.addFlags(cmd)
	resultsFlag(cmd, &o.results, "the folder `DIR` in which grade batch keeps results")
	rulesFlag(cmd, &o.policy)
	cmd.Flags().BoolVar(&o.diff, "diff", false, "show what would change, and change nothing (the default)")
	cmd.Flags().BoolVar(&o.apply, "apply", false, "make it hold")
	return cmd
}

func (o *regradeOptions) run(ctx context.Context) (err error) {
	if err := o.checkFor("regrade"); err != nil {
		return err
	}
	if o.diff && o.apply {
		return usage("look first, and then apply", "--diff and --apply exclude each other")
	}
	all, err := o.app.allExercises()
	if err != nil {
		return err
	}
	rules, err := o.app.rulesIn(o.policy)
	if err != nil {
		return err
	}
	if _, err := file.Read(o.results); err != nil {
		return err // and begin no new one
	}
	ledger, err := file.Open(o.results)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	return o.regrade(ctx, ledger, rules, all)
}

func (o *regradeOptions) regrade(ctx context.Context, ledger *file.Store, rules *rules, all []*course.Exercise) (err error) {
	r, err := batch.NewRegrader(ledger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var with batch.Options
	var list []batch.Regraded
	err = o.grade(ctx, func(g *grader.Grader, progress prove.Progress) error {
		if with, err = o.batchWith(ctx, g, progress, all); err != nil {
			return err
		}
		list, err = r.Run(ctx, with)
		return err
	})
	if err != nil {
		return err
	}
	before := rules.book(ledger.Attempts(), ledger.Pending(), nil)
	after := rules.book(regraded(ledger.Attempts(), list), ledger.Pending(), nil)
	if o.apply {
		if err := r.Apply(list, with); err != nil {
			return err
		}
	}
	return o.tell(newRegrading(list, counted(before, after), o.apply))
}

// regraded are the records as they are once the list is applied.
func regraded(records []results.Record, list []batch.Regraded) []results.Record {
	anew := map[string]*results.Record{}
	for _, x := range list {
		anew[attemptKey(x.Old)] = x.New
	}
	records = slices.Clone(records)
	for i, r := range records {
		if n := anew[attemptKey(r)]; n != nil {
			records[i] = *n
		}
	}
	return records
}

// regradeResult is what a regrading comes to, as --json has it.
type regradeResult struct {
	Regraded int             `json:"regraded"` // attempts that had to be graded, and were
	Changes  []*prove.Change `json:"changes"`
	Counts   []countChange   `json:"counts"` // under the rules of the course
	Stay     []noRecord      `json:"stay"`   // that could not be graded: their results stand
	Applied  bool            `json:"applied"`
}

// countChange is what counts of a student's exercise; without an exercise, the total in percent.
type countChange struct {
	Student  string   `json:"student"`
	Exercise string   `json:"exercise"`
	Old      *float64 `json:"old"`
	New      *float64 `json:"new"`
}

func newRegrading(list []batch.Regraded, counts []countChange, applied bool) regradeResult {
	r := regradeResult{Changes: []*prove.Change{}, Counts: counts, Stay: []noRecord{}, Applied: applied}
	for _, x := range list {
		if x.New == nil {
			r.Stay = append(r.Stay, noRecord{x.Old.Student, x.Old.Exercise, x.Old.Path, x.Err.Error()})
			continue
		}
		r.Regraded++
		if c := compareRecords(x.Old, *x.New); c != nil {
			r.Changes = append(r.Changes, c)
		}
	}
	return r
}

// counted is what differs between two books of one course.
func counted(before, after *gradebook.Book) []countChange {
	list := []countChange{}
	add := func(student, exercise string, was, is *float64) {
		if (was == nil) != (is == nil) || was != nil && *was != *is {
			list = append(list, countChange{student, exercise, was, is})
		}
	}
	for i, row := range after.Rows {
		for j, cell := range row.Cells {
			add(row.Student, after.Columns[j].Exercise, before.Rows[i].Cells[j].Points, cell.Points)
		}
		add(row.Student, "", before.Rows[i].Total, row.Total)
	}
	return list
}

func (o *regradeOptions) tell(r regradeResult) error {
	if err := o.write(r, func() error { return o.app.print("%s", r.text()) }); err != nil {
		return err
	}
	if len(r.Stay) > 0 {
		return &noVerdict{fmt.Errorf("%d of %d attempts; their results stand", len(r.Stay), r.Regraded+len(r.Stay))}
	}
	if !r.Applied && slices.ContainsFunc(r.Changes, (*prove.Change).Scores) {
		return errPointsMissing
	}
	return nil
}

// text is a table of whose result changes, and why; then what counts; then the figures.
func (r regradeResult) text() string {
	var b strings.Builder
	b.WriteString(changeTable(r.Changes))
	for i, c := range r.Counts {
		if i == 0 {
			b.WriteString("\nWhat counts:\n")
		}
		what := cmp.Or(c.Exercise, "total, %")
		fmt.Fprintf(&b, "%s  %s  %s → %s\n", terminal.Start(c.Student), what, numberOr("none", c.Old), numberOr("none", c.New))
	}
	for _, s := range r.Stay {
		fmt.Fprintf(&b, "%s  %s  not graded: %s\n", terminal.Start(s.Student), s.Exercise, terminal.Escape(s.Why))
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "regraded %d, changed %d, not graded %d", r.Regraded, len(r.Changes), len(r.Stay))
	switch {
	case r.Applied:
		b.WriteString("; what was graded holds now\n")
	case r.Regraded > 0:
		b.WriteString("; nothing was overwritten: --apply makes it hold\n")
	default:
		b.WriteString("\n")
	}
	return b.String()
}
