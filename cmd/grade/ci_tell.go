package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"grade/grader/batch"
	"grade/grader/gradebook"
	"grade/grader/intake"
	"grade/grader/intake/changed"
	"grade/grader/report"
	"grade/grader/report/files"
	"grade/grader/report/summary"
	"grade/grader/results/file"
)

// gradeFound grades the submissions, keeps the results and writes the reports.
func (o *ciOptions) gradeFound(ctx context.Context, s changed.Span, found changed.Found) (err error) {
	dir := o.results
	if dir == "" {
		if dir, err = os.MkdirTemp("", "grade-ci-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	store, err := file.OpenWhenFree(ctx, dir, func() { o.app.note("waiting for another grade, which writes to %s", dir) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	intake.SpellAs(found.Submissions, studentsIn(store))
	if len(found.Submissions) == 0 { // no engine is needed
		return o.tell(s, store, nil, found)
	}
	var items []batch.Item
	all, err := o.app.allExercises()
	if err == nil {
		items, err = o.app.gradeAll(ctx, o.grading, store, found.Submissions, all, o.policy)
	}
	if err != nil && items == nil {
		items = batch.Ungraded(ctx, found.Submissions, all, errNothingGraded)
		err = errors.Join(err, batch.KeepPending(store, items, o.app.now()))
	}
	said := o.tell(s, store, items, found)
	if err != nil && errors.Is(said, errPointsMissing) { // the other error matters more
		return err
	}
	return errors.Join(err, said)
}

// errNothingGraded is the reason of submissions without a verdict when grading could not
// begin. It ends up in the job's artifacts, so that it carries no error of ours.
var errNothingGraded = errors.New("nothing could be graded: the log says why")

// studentsIn returns the students with kept results.
func studentsIn(l *file.Store) (names []string) {
	for _, r := range l.Attempts() {
		names = append(names, r.Student)
	}
	for _, w := range l.Pending() {
		names = append(names, w.Student)
	}
	return names
}

// tell writes every report, and returns the error for the exit status.
func (o *ciOptions) tell(s changed.Span, store *file.Store, items []batch.Item, found changed.Found) error {
	book := batch.Book(o.policy, batch.About(store.Attempts(), items), nil, items)
	book.Part()
	sum := summary.NewPush(items, found.Passed())
	err := errors.Join(
		o.print(items, sum),
		o.reports.targets.WriteCourse(o.app.out, book),
		o.annotate(book),
		appendTo(o.clone.Run.Summary, func(f *os.File) error { return summary.WriteStep(f, s, found, items, book) }),
		appendTo(o.clone.Run.Outputs, func(f *os.File) error { _, err := f.WriteString(sum.Outputs()); return err }),
	)
	switch {
	case err != nil:
		return err
	case sum.Ours > 0:
		return o.app.atFault(&noVerdict{fmt.Errorf("%d of %d submissions; run this job again", sum.Ours, len(items))}, items)
	case !sum.Passed:
		return errPointsMissing
	}
	return nil
}

// print writes the text, unless a report takes its place.
func (o *ciOptions) print(items []batch.Item, s summary.Push) error {
	if !o.grading.json && o.reports.targets.ReplacesText() {
		return nil
	}
	return o.app.write(o.grading.json, summary.NewBatch(items), func() string { return s.Text(items) })
}

// annotate writes workflow commands if the forge obeys them.
func (o *ciOptions) annotate(b *gradebook.Book) error {
	const format = "github-annotations"
	asked := slices.ContainsFunc(o.reports.targets, func(t files.Target) bool { return t.Name == format && t.File == files.Stdout })
	if !o.clone.Run.Annotates || asked || o.grading.json || o.reports.targets.ReplacesText() {
		return nil
	}
	f, _ := report.FormatNamed(format)
	return f.WriteCourse(o.app.out, b)
}

// appendTo appends to a file of the CI's runner; without a name it does nothing.
func appendTo(name string, write func(*os.File) error) error {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
