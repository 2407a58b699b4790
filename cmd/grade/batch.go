package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"grade/exercises"
	"grade/grader"
	"grade/grader/batch"
	"grade/grader/prove"
	"grade/grader/report/terminal"
)

type batchOptions struct {
	proving
	paths   []string
	results string
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
it name the student.

Results are kept in DIR/` + batch.ResultsFile + `, one line each, and nothing is taken out of it.
What was graded before is not graded again, unless the submission, the exercise,
grade, Go or the image has changed. Where there was no verdict nothing is kept, so
that the next start grades it; so does the next start after an interrupt.

It needs a Docker engine: what strangers wrote runs nowhere else. The exit status is
3 if there is a submission without a verdict, and else 0, whatever the scores.`,
		Example: `  grade batch students
  grade batch students/alice homework.zip --results /srv/grades
  grade batch students --json > all.json`,
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
	cmd.Flags().StringVar(&o.results, "results", "grade-results", "keep results in the folder `DIR`")
	_ = cmd.MarkFlagDirname("results")
	return cmd
}

func (o *batchOptions) run(ctx context.Context) (err error) {
	o.sandbox.Kind = cmp.Or(o.sandbox.Kind, sandboxDocker)
	if err := o.check(); err != nil {
		return err
	}
	if o.sandbox.Kind != sandboxDocker {
		return usage("check your own work with: grade submit --sandbox "+o.sandbox.Kind, "batch grades what others wrote, and the %s sandbox contains nothing hostile", o.sandbox.Kind)
	}
	all, broken, err := o.app.exercises()
	if err != nil {
		return err
	}
	if len(broken) > 0 {
		return errors.Join(broken...)
	}
	list, err := o.find(all)
	if err != nil {
		return err
	}
	ledger, err := batch.OpenLedger(o.results)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	fates, err := o.gradeAll(ctx, ledger, list, all)
	if fates == nil && err != nil {
		return err
	}
	return errors.Join(err, o.tell(fates))
}

func (o *batchOptions) find(all []*exercises.Exercise) (list []batch.Submission, err error) {
	var names []string
	for _, e := range all {
		names = append(names, e.Name)
	}
	for _, path := range o.paths {
		found, err := batch.Find(path, names)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	if len(list) == 0 {
		return nil, usage("give a folder that holds folders with Go files, or archives", "no submission in %s", strings.Join(o.paths, ", "))
	}
	return list, nil
}

// gradeAll has an engine grade what is not kept yet.
func (o *batchOptions) gradeAll(ctx context.Context, ledger *batch.Ledger, list []batch.Submission, all []*exercises.Exercise) (fates []batch.Fate, err error) {
	err = o.grade(ctx, func(g *grader.Grader, progress prove.Progress) error {
		by, err := identity(ctx, g)
		if err != nil {
			return err
		}
		with := batch.Options{Exercises: all, Grader: by, Workers: o.workers, Now: o.app.now}
		if progress != nil {
			with.OnEvent = func(e batch.Event) { progress("graded "+e.Student+" "+e.Exercise, int64(e.Done), int64(e.Total)) }
		}
		with.Grade = func(ctx context.Context, snapshot *grader.Snapshot, e *exercises.Exercise) (*grader.Result, error) {
			return g.Grade(ctx, snapshot.Dir, e, grader.Options{Snapshot: snapshot})
		}
		fates, err = batch.Run(ctx, ledger, list, with)
		return err
	})
	return fates, err
}

// identity is all that a result depends on besides submission and exercise: this very
// program, the images, whose names are hashes of Go and all else in them, and the
// runtime.
func identity(ctx context.Context, g *grader.Grader) (string, error) {
	info, err := g.Prepare(ctx)
	if err != nil {
		return "", err
	}
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x %q %q %q", h.Sum(nil), info.Build, info.Image, info.Runtime), nil
}

// tell shows what became of each submission, and in the last line how many there
// were of each kind.
func (o *batchOptions) tell(fates []batch.Fate) error {
	graded, cached, without := batch.Count(fates)
	records, missing := []*batch.Record{}, []noRecord{}
	for _, f := range fates {
		if f.Record != nil {
			records = append(records, f.Record)
		} else {
			missing = append(missing, noRecord{f.Student, f.Exercise, f.Path, f.Err.Error()})
		}
	}
	summary := struct {
		Graded    int             `json:"graded"`
		Cached    int             `json:"cached"`
		NoVerdict []noRecord      `json:"no_verdict"`
		Results   []*batch.Record `json:"results"`
	}{graded, cached, missing, records}
	err := o.write(summary, func() error {
		return o.app.print("%sgraded %d, cached %d, no verdict %d\n", o.table(records, missing), graded, cached, without)
	})
	if err == nil && without > 0 {
		err = &noVerdict{fmt.Errorf("%d of %d submissions; the next start grades them", without, len(fates))}
	}
	return err
}

// noRecord is a submission without a verdict.
type noRecord struct {
	Student  string `json:"student"`
	Exercise string `json:"exercise"`
	Path     string `json:"path"`
	Why      string `json:"why"`
}

// table has a line for each submission.
func (o *batchOptions) table(records []*batch.Record, missing []noRecord) string {
	student, exercise := len("student"), len("exercise")
	for _, r := range records {
		student, exercise = max(student, terminal.Width(terminal.Escape(r.Student))), max(exercise, len(r.Exercise))
	}
	var b strings.Builder
	for _, r := range records {
		fmt.Fprintf(&b, "%s  %s  %3d of %d", terminal.Pad(terminal.Escape(r.Student), student), terminal.Pad(r.Exercise, exercise), r.Result.Score, r.Result.MaxScore)
		if r.Result.Verdict != grader.Graded {
			fmt.Fprintf(&b, "  %s", r.Result.Verdict)
		}
		b.WriteString("\n")
	}
	for _, m := range missing {
		fmt.Fprintf(&b, "%s  %s  no verdict: %s\n", terminal.Pad(terminal.Escape(m.Student), student), terminal.Pad(m.Exercise, exercise), terminal.Escape(m.Why))
	}
	return b.String()
}
