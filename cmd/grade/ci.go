package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"grade/grader/intake/forge"
	"grade/grader/intake/repository"
	"grade/exercises/course"
	"grade/grader/batch"
	"grade/grader/fault"
	"grade/grader/report/terminal"
)

type ciOptions struct {
	batchOptions
	dir       string
	base      string
	all       bool
	student   string
	submitted string

	env   func(string) string
	forge forge.Run
	repo  *repository.Repository
}

func newCI(a *app) *cobra.Command {
	o := &ciOptions{batchOptions: batchOptions{proving: proving{app: a, workers: runtime.NumCPU() + 1}}, env: os.Getenv}
	cmd := &cobra.Command{
		Use:     "ci [DIR]",
		Short:   "Grade what a push or a pull request has changed",
		GroupID: groupAuthors,
		Long: `Grade the submissions that have changed in a repository of many, and nothing else. DIR
is a clone of it; without DIR it is the one of the job, or the current folder.

GitHub Actions and GitLab CI say which commit is to be graded, what it is to be compared
with and when the server got it, which is the time of submission. Elsewhere, --base does.
What is graded is the commit, straight out of git: no file of the checkout is opened. The
reports are about what was graded just now; which attempt counts stands in them. The
rules of the course come from --policy, or the grade.yaml of --course, or the one that the
base has, and never from a pull request.

In GitHub Actions it writes annotations, a summary, and the outputs points, max-points,
graded, no-verdict and passed. docs/ci.md has a workflow, a job for GitLab, and what to
think of before strangers may set them off.

It needs a Docker engine. The exit status is 0 if every submission that was graded has
all points (being late costs none here), 1 if points are missing or another student's
folder was changed, and 3 if one has no verdict.`,
		Example: `  grade ci
  grade ci submissions --course course --report junit=report.xml
  grade ci --base origin/main
  grade ci --all --results grades`,
		Args: atMost(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.dir = args[0]
			}
			return o.run(cmd.Context())
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *ciOptions) addFlags(cmd *cobra.Command) {
	o.proving.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.base, "base", "", "grade what has changed since this `REVISION`, such as origin/main")
	f.BoolVar(&o.all, "all", false, "grade everything, changed or not")
	f.StringVar(&o.student, "student", "", "grade submissions of this `STUDENT` only: what is changed of others' is an error")
	f.StringVar(&o.submitted, "submitted", "", "`TIME` of submission, such as 2026-12-01T23:59:00+01:00, in place of the server's")
	f.StringVar(&o.results, "results", "", "keep results in the folder `DIR`, and grade nothing twice (default: they are not kept)")
	f.StringVar(&o.policy, "policy", "", "take deadlines and weights from this `FILE`, not from the grade.yaml of the course or of the base")
	_ = cmd.MarkFlagDirname("results")
	_ = cmd.MarkFlagFilename("policy", "yaml", "yml")
	o.reports.addFlag(cmd)
	for _, flag := range []string{"base", "student", "submitted"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
}

func (o *ciOptions) run(ctx context.Context) error {
	if err := o.checkFlags(); err != nil {
		return err
	}
	if err := o.open(ctx); err != nil {
		return err
	}
	s, err := o.since(ctx)
	if err != nil {
		return err
	}
	if o.rules, err = o.readRules(ctx); err != nil {
		return err
	}
	found, err := o.find(ctx, s)
	if err != nil {
		return err
	}
	o.announce(s, found)
	return o.gradeFound(ctx, s, found)
}

// checkFlags refuses values of flags before anything is read.
func (o *ciOptions) checkFlags() error {
	if err := o.batchOptions.checkFlags("ci"); err != nil {
		return err
	}
	if o.base != "" && o.all {
		return usage("give one of them", "--base and --all exclude each other")
	}
	if slices.ContainsFunc(o.reports.targets, func(t reportTarget) bool { return t.Name == "canvas" }) {
		return usage("keep results, and write it out of them: grade gradebook --results "+cmp.Or(o.results, "DIR")+" --report canvas=FILE",
			"--report canvas: a run knows nothing of what has not changed, and an empty cell erases what Canvas has")
	}
	return nil
}

// open finds the clone, and makes sure that nothing of ours lies where strangers write.
func (o *ciOptions) open(ctx context.Context) (err error) {
	if o.forge, err = forge.Read(o.env, os.ReadFile); err != nil {
		return &fault.UsageError{Message: "find out what this run is about", Hint: "say it: --base REVISION or --all", Err: err}
	}
	o.dir = cmp.Or(o.dir, o.forge.Dir, ".")
	if o.repo, err = repository.Open(ctx, o.dir); err != nil {
		return &fault.UsageError{Message: "open " + o.dir, Hint: "give the clone of the course's repository: grade ci DIR", Err: err}
	}
	return o.apart()
}

// gradeFound grades, keeps and tells.
func (o *ciOptions) gradeFound(ctx context.Context, s span, found findings) (err error) {
	dir := o.results
	if dir == "" {
		if dir, err = os.MkdirTemp("", "grade-ci-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	ledger, err := batch.AwaitLedger(ctx, dir, func() { o.note("waiting for another grade, which writes to %s", dir) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	callAsKept(found.list, namesOf(ledger))
	if len(found.list) == 0 { // no engine is needed
		return o.tell(s, ledger, nil, found)
	}
	var fates []batch.Fate
	all, err := o.app.allExercises()
	if err == nil {
		fates, err = o.gradeAll(ctx, ledger, found.list, all)
	}
	if err != nil && fates == nil {
		fates = batch.Ungraded(ctx, found.list, errNothingGraded)
		err = errors.Join(err, ledger.Await(fates, o.app.now()))
	}
	said := o.tell(s, ledger, fates, found)
	if err != nil && errors.Is(said, errPointsMissing) { // the less of the two
		return err
	}
	return errors.Join(err, said)
}

// errNothingGraded is why submissions have no verdict where nothing could be graded: whoever
// reads what a job leaves behind finds them.
var errNothingGraded = errors.New("nothing could be graded: the log says why")

// readRules reads the rules of the course, where whoever is graded cannot write.
func (o *ciOptions) readRules(ctx context.Context) (*rules, error) {
	if o.policy != "" || o.courseRules() {
		o.note("rules: %s", cmp.Or(o.policy, policyOf(o.app.courseDir)))
		return o.app.rulesIn(o.policy)
	}
	names, err := o.app.names()
	if err != nil {
		return nil, err
	}
	candidates := o.forge.Rules
	if o.forge.Name == "" { // whoever runs it has written what is there
		candidates = []string{cmp.Or(o.base, "HEAD")}
	}
	for _, revision := range candidates {
		commit, ok, err := o.repo.Commit(ctx, revision)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		data, ok, err := o.repo.ReadFile(ctx, commit, course.PolicyFile)
		if err != nil {
			return nil, err
		}
		if !ok {
			o.note("rules: none, there is no %s in %s", course.PolicyFile, named(commit, revision))
			return &rules{Policy: course.NewPolicy(), names: names}, nil
		}
		o.note("rules: %s of %s", course.PolicyFile, named(commit, revision))
		return parseRules(course.PolicyFile+" of "+revision, data, o.repo.Files(ctx, commit), names)
	}
	return nil, usage(hintDepth+"; or give --policy FILE", "read the rules of the course: %s has none of %q", o.dir, candidates)
}

// named is a commit, and how it was asked for.
func named(commit, revision string) string {
	if commit == revision {
		return commit
	}
	return commit + ", which is " + revision
}

// courseRules reports whether the course has rules of its own.
func (o *ciOptions) courseRules() bool {
	if o.app.courseDir == "" {
		return false
	}
	_, err := os.Stat(policyOf(o.app.courseDir))
	return err == nil
}

// handedIn says when what is graded was handed in; zero: that is not known.
func (o *ciOptions) handedIn() (at time.Time, source string, err error) {
	if o.submitted == "" {
		return o.forge.Submitted, o.forge.Source, nil
	}
	if at, err = course.ParseMoment(o.submitted, o.rules.Zone); err != nil {
		return at, "", usage("", "--submitted: %v", err)
	}
	return at, "--submitted", nil
}

// note tells whoever reads the log.
func (o *ciOptions) note(format string, args ...any) {
	fmt.Fprintln(o.app.err, "grade: "+terminal.Escape(fmt.Sprintf(format, args...)))
}
