package main

import (
	"cmp"
	"context"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/gradebook"
	"grade/grader/intake/changed"
	"grade/grader/intake/forge"
	"grade/grader/intake/repository"
	"grade/grader/report/files"
)

type ciOptions struct {
	app        *app
	grading    gradingFlags
	reports    reportFlags
	clone      changed.Clone
	results    string
	policyFile string
	submitted  string

	env    func(string) string
	policy *gradebook.Policy
}

func newCI(a *app) *cobra.Command {
	o := &ciOptions{app: a, env: os.Getenv}
	cmd := &cobra.Command{
		Use:     "ci [DIR]",
		Short:   "Grade what a push or a pull request has changed",
		GroupID: groupInstructors,
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
all points (being late costs none here), 1 if points are missing, a student has to mend a
submission first, or another student's folder was changed, and 3 if a submission has no
verdict by no fault of its student.`,
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
				o.clone.Dir = args[0]
			}
			return o.run(cmd.Context())
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *ciOptions) addFlags(cmd *cobra.Command) {
	o.grading.add(cmd, batchWorkers())
	f := cmd.Flags()
	f.StringVar(&o.clone.Base, "base", "", "grade what has changed since this `REVISION`, such as origin/main")
	f.BoolVar(&o.clone.All, "all", false, "grade everything, changed or not")
	f.StringVar(&o.clone.Student, "student", "", "grade submissions of this `STUDENT` only: what is changed of others' is an error")
	f.StringVar(&o.submitted, "submitted", "", "`TIME` of submission, such as 2026-12-01T23:59:00+01:00, in place of the server's")
	f.StringVar(&o.results, "results", "", "keep results in the folder `DIR`, and grade nothing twice (default: they are not kept)")
	f.StringVar(&o.policyFile, "policy", "", "take deadlines and weights from this `FILE`, not from the grade.yaml of the course or of the base")
	_ = cmd.MarkFlagDirname("results")
	_ = cmd.MarkFlagFilename("policy", "yaml", "yml")
	o.reports.add(cmd)
	for _, flag := range []string{"base", "student", "submitted"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
}

// hintBase says what to do where nothing names the commits to compare.
const hintBase = "say what to compare with: --base REVISION; or grade everything: --all"

func (o *ciOptions) run(ctx context.Context) error {
	if err := o.checkFlags(); err != nil {
		return err
	}
	if err := o.open(ctx); err != nil {
		return err
	}
	defer o.clone.Repo.Close()
	s, warnings, err := o.clone.Since(ctx)
	o.app.warn(warnings)
	if err != nil {
		return withHint(hintBase, err)
	}
	if err := o.readPolicy(ctx); err != nil {
		return err
	}
	found, err := o.find(ctx, s)
	if err != nil {
		return err
	}
	for _, line := range o.clone.Notes(s, found) {
		o.app.note("%s", line)
	}
	return o.gradeFound(ctx, s, found)
}

// checkFlags refuses invalid flags before anything is read.
func (o *ciOptions) checkFlags() error {
	if err := checkMany("ci", &o.grading, &o.reports); err != nil {
		return err
	}
	if o.clone.Base != "" && o.clone.All {
		return usage("give one of them", "--base and --all exclude each other")
	}
	if slices.ContainsFunc(o.reports.targets, func(t files.Target) bool { return t.Name == "canvas" }) {
		return usage("keep results, and write it out of them: grade gradebook --results "+cmp.Or(o.results, "DIR")+" --report canvas=FILE",
			"--report canvas: a run knows nothing of what has not changed, and an empty cell erases what Canvas has")
	}
	return nil
}

// open finds the clone, and makes sure that no file of the course lies where students
// write.
func (o *ciOptions) open(ctx context.Context) (err error) {
	c := &o.clone
	if c.Run, err = forge.Read(o.env, os.ReadFile); err != nil {
		return &fault.Error{Message: "find out what this run is about", Advice: hintBase, Err: err}
	}
	c.Dir = cmp.Or(c.Dir, c.Run.Dir, ".")
	if c.Repo, err = repository.Open(ctx, c.Dir); err != nil {
		return &fault.Error{Message: "open " + c.Dir, Advice: "give the clone of the course's repository: grade ci DIR", Err: err}
	}
	return o.apart()
}

// apart makes sure that course, rules and results do not lie in the checkout, and that no
// report is written through a link that the checkout brought along.
func (o *ciOptions) apart() error {
	err := o.clone.Apart(changed.Own{Name: "--course", Path: o.app.courseDir}, changed.Own{Name: "--policy", Path: o.policyFile}, changed.Own{Name: "--results", Path: o.results})
	if err != nil {
		return err
	}
	for _, t := range o.reports.targets {
		if link := o.clone.LinkTo(t.File); link != "" && t.File != files.Stdout {
			return usage("write it elsewhere", "--report %s=%s: %s is a link in the checkout", t.Name, t.File, link)
		}
	}
	return nil
}

// readPolicy reads the rules of the course, where the author of what is graded cannot write.
func (o *ciOptions) readPolicy(ctx context.Context) (err error) {
	if o.policyFile != "" || o.courseRules() {
		o.app.note("rules: %s", cmp.Or(o.policyFile, policyOf(o.app.courseDir)))
		o.policy, err = o.app.policy(o.policyFile)
		return err
	}
	names, err := o.app.names()
	if err != nil {
		return err
	}
	policy, from, err := o.clone.Policy(ctx, names)
	if from != "" {
		o.app.note("rules: %s", from)
	}
	o.policy = policy
	return withHint(changed.HintDepth+"; or give --policy FILE", err)
}

// courseRules reports whether the course has rules of its own.
func (o *ciOptions) courseRules() bool {
	if o.app.courseDir == "" {
		return false
	}
	_, err := os.Stat(policyOf(o.app.courseDir))
	return err == nil
}

// find sorts the changes, and sets the time of submission.
func (o *ciOptions) find(ctx context.Context, s changed.Span) (found changed.Found, err error) {
	at, source, err := o.handedIn()
	if err != nil {
		return found, err
	}
	found, err = o.clone.Find(ctx, s, o.policy)
	for i := range found.Submissions {
		found.Submissions[i].At, found.Submissions[i].Source = at, source
	}
	return found, err
}

// handedIn returns the time of submission; zero: it is not known.
func (o *ciOptions) handedIn() (at time.Time, source string, err error) {
	if o.submitted == "" {
		return o.clone.Run.Submitted, o.clone.Run.Source, nil
	}
	if at, err = course.ParseMoment(o.submitted, o.policy.Zone); err != nil {
		return at, "", usage("", "--submitted: %v", err)
	}
	return at, "--submitted", nil
}
