package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/fault"
	"grade/grader/intake"
	"grade/grader/prove"
	"grade/grader/report"
	"grade/grader/report/files"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/service/client"
)

// interruptGrace is how long an interrupted grading may take to end. What it leaves behind
// ends with this process, because a sandbox listens to our pipe.
const interruptGrace = 1500 * time.Millisecond

// gradeFunc grades a submission. It is how submit sees package grader and a sandbox.
type gradeFunc func(ctx context.Context, snapshot *submission.Snapshot, e *course.Exercise, s sandboxFlags, o grader.Options) (*verdict.Result, error)

type submitOptions struct {
	app   *app
	grade gradeFunc

	dir      string
	exercise string
	server   string
	remote   *client.Attempt // what the server has graded; nil: it was graded here
	only     []string
	seed     string
	timeout  time.Duration
	json     bool
	reports  []string
	quiet    bool
	verbose  bool
	explain  bool
	sandbox  sandboxFlags

	env      func(string) string
	identity report.Identity // for the reports
	targets  files.Targets
}

func newSubmit(a *app) *cobra.Command {
	o := &submitOptions{app: a, grade: gradeInSandbox, env: os.Getenv}
	cmd := &cobra.Command{
		Use:     "submit [DIR]",
		Short:   "Grade a solution",
		GroupID: groupExercises,
		Long: `Grade the solution in DIR, or in the current folder: its Go files, without tests,
go.mod and subfolders. The exercise is the one whose package it is.

Grading uses a Docker engine. Where there is none, it uses a child process, which
is good for checking one's own work: the report then says "unofficial".

The report goes to standard output and ends with what to mend first, and the score.
On a terminal it fits on a screen, unless -v asks for all of it, and progress is
shown on standard error; in a pipe there is none.`,
		Example: `  grade submit
  grade submit ~/go/autograd
  grade submit --only correctness      # quick: nothing is measured
  grade submit --json > result.json    # for a program; see: grade help json
  grade submit --server https://grade.example.org   # hand in there; first: grade login
  grade submit --report html=report.html --report junit=report.xml   # see: grade help reports
  grade submit --seed 5feceb66...      # the inputs of that report once more`,
		Args: atMost(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.dir = "."
			if len(args) > 0 {
				o.dir = args[0]
			}
			return o.run(cmd.Context())
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *submitOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.exercise, "exercise", "", "grade as `EXERCISE`, whatever the package is called")
	f.StringVar(&o.server, "server", "", "hand in to the service at this `URL`, which grades it and keeps it; see: grade login --help")
	f.StringSliceVar(&o.only, "only", nil, "run the checks of these `KINDS` only: "+strings.Join(kindNames(), ", "))
	f.StringVar(&o.seed, "seed", "", "repeat a grading: the `SEED` of its report, 64 hexadecimal digits")
	f.DurationVar(&o.timeout, "timeout", 0, "give up after this time, without a verdict (such as 5m; 0: never)")
	f.BoolVar(&o.json, "json", false, "write the report as JSON; see: grade help json")
	f.StringArrayVar(&o.reports, "report", nil, "write another report, `FORMAT=FILE`, as often as given; see: grade help reports")
	f.BoolVar(&o.explain, "explain", false, "for the author, with --course: show of failed checks the values observed and wanted, output and stack")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress, only the report")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "list every check, with all that is told of it")
	o.sandbox.addFlags(cmd)

	complete := func(flag string, c cobra.CompletionFunc) { _ = cmd.RegisterFlagCompletionFunc(flag, c) }
	complete("exercise", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return o.app.completeNames()
	})
	complete("only", cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp))
	complete("report", completeReportsIf(report.Format.OfOne))
	for _, flag := range []string{"seed", "server", "timeout"} {
		complete(flag, cobra.NoFileCompletions)
	}
}

func kindNames() []string {
	var names []string
	for _, k := range verdict.Kinds {
		names = append(names, string(k))
	}
	return names
}

// kinds parses the value of --only.
func kinds(names []string) (only []verdict.Kind, err error) {
	for _, name := range names {
		if name == "" {
			return nil, usage("", "--only %s: a kind is empty: want %s", strings.Join(names, ","), strings.Join(kindNames(), ", "))
		}
		if !slices.Contains(kindNames(), name) {
			return nil, usage(strings.TrimSpace(didYouMean(name, kindNames())), "--only %s: want %s", name, strings.Join(kindNames(), ", "))
		}
		only = append(only, verdict.Kind(name))
	}
	return only, nil
}

// checkOnly refuses --only if it selects no check: all points of none would look like success.
func checkOnly(only []string, exercise string, checks []course.Check) error {
	var there []string
	for _, kind := range kindNames() {
		if slices.ContainsFunc(checks, func(c course.Check) bool { return string(c.Kind) == kind }) {
			there = append(there, kind)
		}
	}
	if len(only) == 0 || slices.ContainsFunc(only, func(kind string) bool { return slices.Contains(there, kind) }) {
		return nil
	}
	return usage("it has: "+strings.Join(there, ", "), "--only %s: exercise %s has no such check", strings.Join(only, ","), exercise)
}

func (o *submitOptions) run(ctx context.Context) error {
	only, err := o.check()
	if err != nil {
		return err
	}
	explained := &prove.Explanations{}
	result, err := o.verdict(ctx, only, explained)
	if err != nil {
		o.withoutVerdict(err)
		return submitError(err)
	}
	if err := o.tellExplained(explained, result); err != nil {
		return err
	}
	if err := o.targets.Write(o.app.out, result, o.identity, func() error { return o.print(result) }); err != nil {
		return submitError(err)
	}
	if err := o.counts(); err != nil {
		return err
	}
	if !result.AllPoints(only) {
		return errPointsMissing
	}
	return nil
}

// verdict reads the submission once, finds its exercise and grades it.
func (o *submitOptions) verdict(ctx context.Context, only []verdict.Kind, explained *prove.Explanations) (*verdict.Result, error) {
	if o.server != "" {
		return o.fromServer(ctx)
	}
	snapshot, err := submission.Take(o.dir)
	if err != nil {
		return nil, hintToStart(o.dir, err)
	}
	e, err := o.findExercise(snapshot)
	if err != nil {
		return nil, err
	}
	if err := checkOnly(o.only, e.Name, e.Checks); err != nil {
		return nil, err
	}
	with := grader.Options{Purpose: grader.ForStudent, Seed: o.seed, Only: only}
	if o.explain {
		with.Judged = explained.Hear
	}
	r, err := o.gradeWatched(ctx, snapshot, e, with)
	if errors.Is(err, fault.ErrExercise) {
		err = &hinted{err, hintCheck(e.Name) + o.app.sameCourse()}
	}
	return r, err
}

// hintToStart adds the command that begins a solution to an error about a folder without
// one. An error with a cause is about a solution that exists.
func hintToStart(dir string, err error) error {
	var usage *fault.Error
	if errors.As(err, &usage) && usage.Err == nil {
		usage.Advice = cmp.Or(belowOf(dir), beside(dir)) + usage.Advice + ", or begin with: grade start EXERCISE DIR"
	}
	return err
}

// belowOf returns a hint to the folders in dir that hold solutions, if it is the folder
// above that was given, or "".
func belowOf(dir string) string {
	found, err := filepath.Glob(filepath.Join(dir, "*", "*.go"))
	var folders []string
	for _, f := range found {
		if below := filepath.Dir(f); submission.IsSource(filepath.Base(f)) && !slices.Contains(folders, below) {
			folders = append(folders, below)
		}
	}
	if err != nil {
		return ""
	}
	return meant(folders)
}

// beside returns a hint to the folder that a file is in, or to one with a name much like that
// of one that is not there; "" if there is none.
func beside(dir string) string {
	up := filepath.Dir(filepath.Clean(dir))
	if info, err := os.Stat(dir); err == nil && !info.IsDir() && submission.IsSource(filepath.Base(dir)) {
		return "did you mean " + up + "? "
	} else if err == nil {
		return ""
	}
	entries, _ := os.ReadDir(up)
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	like := resembling(filepath.Base(dir), names)
	for i := range like {
		like[i] = filepath.Join(up, like[i])
	}
	return meant(like)
}

// check refuses invalid flags before anything is read.
func (o *submitOptions) check() (only []verdict.Kind, err error) {
	if only, err = kinds(o.only); err != nil {
		return nil, err
	}
	if err := o.sandbox.check(); err != nil {
		return nil, err
	}
	if o.timeout < 0 {
		return nil, usage("", "--timeout %v: want a time above 0", o.timeout)
	}
	if err := errors.Join(o.checkExplain(), o.checkServer()); err != nil {
		return nil, err
	}
	return only, o.checkReports()
}

// checkReports checks the reports' needs and files.
func (o *submitOptions) checkReports() (err error) {
	if len(o.reports) == 0 {
		return nil
	}
	o.identity = report.IdentityIn(o.env)
	o.identity.Folder = intake.FolderIn(o.env("GITHUB_WORKSPACE"), o.dir)
	if o.targets, err = parseReports(o.reports, report.Format.OfOne, ofOne(o.identity)); err != nil {
		return err
	}
	if _, taken := o.targets.OnStdout(); taken && o.json {
		return usage("give the report a file", "--json and a report both go to standard output")
	}
	if o.explain && o.targets.ReplacesText() {
		return usage("give the report a file", "--explain writes text, and a report in its place holds none of it")
	}
	return nil
}

// submitError tells errors of the caller's from those that prevented a verdict.
func submitError(err error) error {
	if kind := fault.KindOf(err); kind == fault.Student || kind == fault.Caller {
		return err
	}
	return &noVerdict{err}
}

// print writes the text, unless a report takes its place.
func (o *submitOptions) print(r *verdict.Result) error {
	if o.json {
		return report.JSON(o.app.out, r)
	}
	return report.Text(o.app.out, r, o.app.textOptions(o.verbose))
}

// withoutVerdict writes the reports that can say that there is no verdict. No student reads
// an error of ours or of the course's, nor a part of one.
func (o *submitOptions) withoutVerdict(cause error) {
	message := "No grade: the grader could not finish. This says nothing about the submission; earlier grades stand. " +
		"Submit again later, or tell your teacher."
	if told := fault.Told(cause); told != "" {
		message = "No grade: this cannot be graded as it is.\n" + told
	}
	for _, err := range o.targets.WriteNoVerdict(o.app.out, message) {
		o.app.closed(err)
	}
}

// gradeWatched grades with a progress line if a person is watching, and waits only
// [interruptGrace] for an interrupted grading.
func (o *submitOptions) gradeWatched(ctx context.Context, snapshot *submission.Snapshot, e *course.Exercise, g grader.Options) (*verdict.Result, error) {
	s := o.sandbox
	if p := o.app.watch(o.quiet); p != nil {
		defer p.Start()()
		g.OnEvent, s.Progress = p.Event, p.Work
	}
	type answer struct {
		result *verdict.Result
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		r, err := o.gradeInTime(ctx, snapshot, e, g, s)
		done <- answer{r, err}
	}()
	var late <-chan time.Time
	select {
	case a := <-done:
		return a.result, a.err
	case <-ctx.Done():
		late = time.After(interruptGrace)
	}
	select {
	case a := <-done:
		return a.result, a.err
	case <-late:
		return nil, fmt.Errorf("grading did not end: %w", context.Cause(ctx))
	}
}

// gradeInTime grades for as long as the timeout allows. Only an interrupt ends the wait
// for a grading that has to clean up.
func (o *submitOptions) gradeInTime(ctx context.Context, snapshot *submission.Snapshot, e *course.Exercise, g grader.Options, s sandboxFlags) (*verdict.Result, error) {
	if o.timeout <= 0 {
		return o.grade(ctx, snapshot, e, s, g)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("gave up after %v, as --timeout asks", o.timeout))
	defer cancel()
	r, err := o.grade(ctx, snapshot, e, s, g)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	return r, err
}
