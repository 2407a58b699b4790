package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grade/grader/batch"
	"grade/grader/fault"
	"grade/grader/report/terminal"
	"grade/grader/results/file"
)

// The exit codes. `grade help exit-codes` prints exits.
const (
	exitOK          = 0
	exitMissing     = 1
	exitUsage       = 2
	exitNoVerdict   = 3
	exitInterrupted = 130 // 128 + SIGINT, as a shell has it
)

var exits = []struct {
	code    int
	meaning string
}{
	{exitOK, "Done. For submit and ci: every point asked for was reached;\nfor batch: every submission has a verdict, or its student\nhas to mend it first."},
	{exitMissing, "Graded, and points are missing. Also where the submission was\nrefused or does not compile. For ci also: another\nstudent's folder was changed, or a link, an archive or a\nmalformed tree stands in place of a folder. For exercise check,\nmutate and seeds: something was found; for exercise diff, and for\nregrade where nothing was applied: a score differs; for exercise\nsubmission refresh: a conflict is left."},
	{exitUsage, "Not understood: a wrong flag or argument, a folder without Go\nfiles, a package that belongs to no exercise."},
	{exitNoVerdict, "No verdict: the sandbox, the exercise, the disk or grade itself\nfailed. This says nothing about a submission. For batch and\nci: of some submissions; what was graded is kept. For\nregrade: of some attempts, whose results stay as they were.\nFor doctor: this machine cannot give a grade that counts."},
	{exitInterrupted, "Interrupted."},
}

// errPointsMissing ends a grading that came to a verdict and not to all points. The report
// has said everything.
var errPointsMissing = errors.New("points are missing")

// noVerdict wraps an error that kept a submission from being graded.
type noVerdict struct{ err error }

func (e *noVerdict) Error() string { return "no verdict: " + e.err.Error() }
func (e *noVerdict) Unwrap() error { return e.err }

// exit prints the error and returns its exit code. cmd is the command that failed.
func (a *app) exit(ctx context.Context, cmd *cobra.Command, err error) int {
	code := a.code(ctx, err)
	switch code {
	case exitOK, exitMissing:
		return code
	case exitInterrupted:
		fmt.Fprintln(a.err, "grade: interrupted")
		return code
	}
	lines, more := terminal.Lines(err.Error(), 100, 1000)
	if more > 0 {
		lines = append(lines, "… and "+countOf(more, "more line"))
	}
	for _, l := range lines {
		if l != "" {
			fmt.Fprintln(a.err, "grade: "+l)
		}
	}
	if hint := a.hint(cmd, err); hint != "" {
		fmt.Fprintln(a.err, "hint: "+terminal.Escape(hint))
	}
	return code
}

// code is the one place where errors become exit codes.
func (a *app) code(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errPointsMissing):
		return exitMissing
	case ctx.Err() != nil:
		return exitInterrupted
	case !a.started:
		return exitUsage
	}
	switch fault.KindOf(err) {
	case fault.Student, fault.Caller:
		return exitUsage
	}
	return exitNoVerdict
}

// hint returns what to do about err.
func (a *app) hint(cmd *cobra.Command, err error) string {
	var u *fault.Error
	var h interface{ Hint() string }
	var n *noVerdict
	var busy *file.BusyError
	var none *file.NoResultsError
	switch {
	case errors.As(err, &busy):
		return "wait for it, or give another folder: --results DIR"
	case errors.As(err, &none):
		return "give the folder of results of an earlier grade batch: --results DIR"
	case errors.As(err, &h):
		return h.Hint()
	case errors.As(err, &u):
		return cmp.Or(u.Advice, "see: "+cmd.CommandPath()+" --help")
	case !a.started:
		return "see: " + cmd.CommandPath() + " --help"
	case errors.As(err, &n):
		return "this says nothing about the submission; see: grade help exit-codes"
	}
	return ""
}

// hintCheck says how the author of exercises finds what keeps them from being graded.
func hintCheck(exercises ...string) string {
	return "the exercise is at fault, not the submission; its author finds the fault with: grade exercise check " + strings.Join(exercises, " ")
}

// atFault adds a hint to the error about submissions without a verdict, if exercises are why.
func (a *app) atFault(err error, items []batch.Item) error {
	var names []string
	for _, i := range items {
		if i.Record == nil && errors.Is(i.Err, fault.ErrExercise) && i.Exercise != "" && !slices.Contains(names, i.Exercise) {
			names = append(names, i.Exercise)
		}
	}
	if len(names) == 0 {
		return err
	}
	slices.Sort(names)
	return &hinted{err, hintCheck(names...) + a.sameCourse()}
}

func newExitCodes() *cobra.Command {
	var b strings.Builder
	b.WriteString("What the exit status of grade means:\n\n")
	for _, e := range exits {
		fmt.Fprintf(&b, "  %3d  %s\n", e.code, strings.ReplaceAll(e.meaning, "\n", "\n       "))
	}
	b.WriteString("\nResults go to standard output, progress and errors to standard error.")
	return &cobra.Command{Use: "exit-codes", Short: "What the exit status says", Long: b.String()}
}
