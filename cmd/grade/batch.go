package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grade"
	"grade/exercises/course"
	"grade/grader"
	"grade/grader/batch"
	"grade/grader/fault"
	"grade/grader/prove"
	"grade/grader/report/terminal"
	"grade/grader/results"
	"grade/grader/results/file"
	"grade/grader/submission"
	"grade/grader/verdict"
)

type batchOptions struct {
	proving
	paths   []string
	results string
	policy  string
	reports bookReports

	rules *rules
}

func newBatch(a *app) *cobra.Command {
	// One more than there are CPUs: of some gradings, all but one wait to measure.
	o := &batchOptions{proving: proving{app: a, workers: runtime.NumCPU() + 1}}
	cmd := &cobra.Command{
		Use:     "batch PATH...",
		Short:   "Grade many submissions, and keep the results",
		GroupID: groupAuthors,
		Long: `Grade all submissions below each PATH: folders with Go files and archives (.zip,
.tar, .tar.gz), as in students/<student>/<exercise>. The last folder's name is the
exercise, if it is one's, and else the package says which it is; the folders above
it name the student. Where a grade.yaml says where submissions are, as seen from the
current folder or else from PATH, those are taken and nothing else.

Results are kept in DIR/` + file.ResultsFile + `, one line each, and nothing is taken out of it.
What was graded before is not graded again, unless the submission, the exercise,
grade, Go or the image has changed: then it is graded anew, and what that changes is
told. What grade regrade would change can be seen before it holds. Where there was no
verdict, no result is kept, and the next start grades it; so does the next start after an
interrupt.

It needs a Docker engine: what strangers wrote runs nowhere else. The exit status is
3 if there is a submission without a verdict, and else 0, whatever the scores.`,
		Example: `  grade batch students
  grade batch students/alice homework.zip --results /srv/grades
  grade batch students --json > all.json
  grade batch students --report html=course.html --report csv=gradebook.csv
  grade batch students --report html=pages/{student}/{exercise}.html`,
		Args: cobra.MinimumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.paths = args
			return o.run(cmd.Context())
		},
	}
	o.addFlags(cmd)
	resultsFlag(cmd, &o.results, "keep results in the folder `DIR`")
	rulesFlag(cmd, &o.policy)
	o.reports.addFlag(cmd)
	return cmd
}

func (o *batchOptions) run(ctx context.Context) (err error) {
	if err := o.checkFlags("batch"); err != nil {
		return err
	}
	all, err := o.app.allExercises()
	if err != nil {
		return err
	}
	if o.rules, err = o.app.rulesIn(o.policy); err != nil {
		return err
	}
	list, err := o.find(ctx)
	if err != nil {
		return err
	}
	ledger, err := file.Open(o.results)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	fates, err := o.gradeAll(ctx, ledger, list, all)
	if fates == nil && err != nil {
		return errors.Join(err, batch.KeepPending(ledger, batch.Ungraded(ctx, list, err), o.app.now()))
	}
	return errors.Join(err, o.tell(ledger, fates))
}

// checkFlags refuses values of flags before anything is read.
func (o *batchOptions) checkFlags(command string) error {
	if err := errors.Join(o.checkFor(command), o.reports.check()); err != nil {
		return err
	}
	if o.json && slices.ContainsFunc(o.reports.targets, func(t reportTarget) bool { return t.file == toStdout }) {
		return usage("give the report a file", "--json and a report both go to standard output")
	}
	return nil
}

// find finds the submissions, and says when each was handed in.
func (o *batchOptions) find(ctx context.Context) (list []batch.Submission, err error) {
	for _, path := range o.paths {
		found, err := o.findIn(path)
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			if !slices.ContainsFunc(list, func(o batch.Submission) bool { return o.Path == s.Path }) { // PATHs may overlap
				list = append(list, s)
			}
		}
	}
	if len(list) == 0 {
		hint := "give a folder that holds folders with Go files, or archives"
		if where := o.rules.Submissions.String(); where != "" {
			hint = "the rules of the course have them in " + where + ": run grade in the folder from which that is seen"
		}
		return nil, usage(hint, "no submission in %s", strings.Join(o.paths, ", "))
	}
	when, err := newDates(ctx)
	if err != nil {
		return nil, err
	}
	for i, s := range list {
		list[i].Submitted = func(ctx context.Context) (time.Time, string, error) { return when.of(ctx, s) }
	}
	return list, nil
}

// findIn finds the submissions in a folder; where the rules say where they are, as seen
// from the current folder, or else from the one that was given.
func (o *batchOptions) findIn(dir string) ([]batch.Submission, error) {
	if o.rules.Submissions.String() == "" {
		return batch.Find(dir, o.rules.names)
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, &fault.UsageError{Message: "look for submissions", Hint: "give a folder", Err: err}
	}
	base, within := dir, "."
	if rel, ok := below(".", dir); ok {
		base, within = ".", rel
	}
	found, left, err := batch.FindAt(base, within, o.rules.Submissions, o.rules.names)
	for i, name := range left {
		if i == maxDoubts {
			o.app.closed(fmt.Errorf("… and %d more are left out", len(left)-i))
			break
		}
		o.app.closed(fmt.Errorf("%s is left out: the course has no exercise of that name", name))
	}
	return found, err
}

// gradeAll has an engine grade what is not kept yet.
func (o *batchOptions) gradeAll(ctx context.Context, ledger *file.Store, list []batch.Submission, all []*course.Exercise) (fates []batch.Item, err error) {
	err = o.grade(ctx, func(g *grader.Grader, progress prove.Progress) error {
		with, err := o.batchWith(ctx, g, progress, all)
		if err != nil {
			return err
		}
		fates, err = batch.Run(ctx, ledger, list, with)
		return err
	})
	return fates, err
}

// gradeWith is how a batch sees a grader. It measures until the verdict is sure: to know
// the ratio more precisely would take most of the time, and change no points.
func gradeWith(g *grader.Grader) batch.GradeFunc {
	return func(ctx context.Context, snapshot *submission.Snapshot, e *course.Exercise, seed string) (*verdict.Result, error) {
		return g.Grade(ctx, snapshot, e, grader.Options{Purpose: grader.ForBatch, Seed: seed})
	}
}

// identity is all that a result depends on besides submission and exercise: the sources that
// decide, the images, whose names are hashes of Go and all else in them, and the runtime.
func identity(ctx context.Context, g *grader.Grader) (string, error) {
	info, err := g.Prepare(ctx)
	if err != nil {
		return "", err
	}
	sources, err := results.SourceDigest(grade.Deciding)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %q %q %q", sources, info.Build, info.Image, info.Runtime), nil
}

// tell shows what became of each submission, and in the last line how many there
// were of each kind.
func (o *batchOptions) tell(ledger *file.Store, fates []batch.Item) error {
	graded, cached, without := batch.Count(fates)
	book := o.rules.book(ledger.Attempts(), ledger.Pending(), fates)
	o.app.doubts(o.rules, o.reports, book)
	err := o.reports.write(o.app.out, book)
	if !o.reports.onStdout() {
		r := newBatchResult(fates)
		err = errors.Join(err, o.write(r, func() error {
			return o.app.print("%s%sgraded %d, cached %d, no verdict %d\n", o.table(r.Results, r.NoVerdict), regradedTable(fates), graded, cached, without)
		}))
	}
	if err == nil && without > 0 {
		err = &noVerdict{fmt.Errorf("%d of %d submissions; the next start grades them", without, len(fates))}
	}
	return err
}

// batchResult is what a batch comes to, as --json has it.
type batchResult struct {
	Graded    int               `json:"graded"`
	Cached    int               `json:"cached"`
	NoVerdict []noRecord        `json:"no_verdict"`
	Results   []*results.Record `json:"results"`
}

func newBatchResult(fates []batch.Item) batchResult {
	r := batchResult{NoVerdict: []noRecord{}, Results: []*results.Record{}}
	r.Graded, r.Cached, _ = batch.Count(fates)
	for _, f := range fates {
		if f.Record != nil {
			r.Results = append(r.Results, f.Record)
		} else {
			r.NoVerdict = append(r.NoVerdict, noRecord{f.Student, f.Exercise, f.Path, f.Err.Error()})
		}
	}
	return r
}

// noRecord is a submission without a verdict.
type noRecord struct {
	Student  string `json:"student"`
	Exercise string `json:"exercise"`
	Path     string `json:"path"`
	Why      string `json:"why"`
}

// table has a line for each submission.
func (o *batchOptions) table(records []*results.Record, missing []noRecord) string {
	student, exercise := len("student"), len("exercise")
	for _, r := range records {
		student, exercise = max(student, terminal.Width(terminal.Start(r.Student))), max(exercise, len(r.Exercise))
	}
	var b strings.Builder
	for _, r := range records {
		fmt.Fprintf(&b, "%s  %s  %3d of %d", terminal.Pad(terminal.Start(r.Student), student), terminal.Pad(r.Exercise, exercise), r.Result.Score, r.Result.MaxScore)
		if r.Result.Verdict != verdict.Graded {
			fmt.Fprintf(&b, "  %s", r.Result.Verdict)
		}
		b.WriteString("\n")
	}
	for _, m := range missing {
		fmt.Fprintf(&b, "%s  %s  no verdict: %s\n", terminal.Pad(terminal.Start(m.Student), student), terminal.Pad(m.Exercise, exercise), terminal.Escape(m.Why))
	}
	return b.String()
}
