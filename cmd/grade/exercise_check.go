package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grade/exercises"
	"grade/grader/prove"
	"grade/grader/report/terminal"
)

type checkOptions struct {
	app       *app
	names     []string
	changed   string
	seeds     int
	calibrate bool
	json      bool
	quiet     bool
	sandbox   sandboxOptions
}

func newExerciseCheck(a *app) *cobra.Command {
	o := &checkOptions{app: a}
	cmd := &cobra.Command{
		Use:   "check [EXERCISE...]",
		Short: "Find everything that is wrong with exercises",
		Long: `Read exercises and grade all that is shipped with them: the reference must keep
its points on several inputs, the starter must compile and be no solution, every
submission must get the verdict it declares, from the check it declares. Limits
must keep a distance from what they let pass and from what they stop; README,
starter and reference must agree. Each finding says file, line and what to do.

Without a name all exercises of the course are checked. The exit status is 1 if
anything was found.`,
		Example: `  grade exercise check
  grade exercise check gradclip --seeds 100
  grade exercise check --changed origin/main   # only what was touched since
  grade exercise check cosine --calibrate      # which limits would separate best`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return a.completeNames() },
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.changed, "changed", "", "check only exercises that differ from the git `REVISION`")
	f.IntVar(&o.seeds, "seeds", 3, "on how many inputs the reference must keep its points")
	f.BoolVar(&o.calibrate, "calibrate", false, "propose limits, from what was measured")
	f.BoolVar(&o.json, "json", false, "write the result as JSON")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress")
	f.StringVar(&o.sandbox.Kind, "sandbox", "", "grade in a docker container or in a child process: `KIND` is "+strings.Join(sandboxKinds, " or "))
	_ = cmd.RegisterFlagCompletionFunc("sandbox", cobra.FixedCompletions(sandboxKinds, cobra.ShellCompDirectiveNoFileComp))
	for _, flag := range []string{"changed", "seeds"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
	return cmd
}

func (o *checkOptions) run(ctx context.Context) error {
	if err := checkSandbox(o.sandbox); err != nil {
		return err
	}
	if o.app.courseDir == "" {
		return usage("run it in a course's folder, or give one: --course DIR", "check: the built-in course comes without the submissions to check it with")
	}
	course, err := o.app.course()
	if err != nil {
		return err
	}
	if err := o.choose(ctx, course); err != nil {
		return err
	}
	reports, err := o.check(ctx, course)
	if err != nil {
		return err
	}
	write := o.text
	if o.json {
		write = o.asJSON
	}
	if err := write(reports); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	if slices.ContainsFunc(reports, func(r *prove.Report) bool { return len(r.Findings) > 0 }) {
		return errPointsMissing
	}
	return nil
}

// choose settles which exercises are checked.
func (o *checkOptions) choose(ctx context.Context, course *exercises.Course) error {
	all, err := course.Names()
	if err != nil {
		return err
	}
	for _, name := range o.names {
		if !slices.Contains(all, name) {
			return usage(thereAre(all), "there is no exercise %q", name)
		}
	}
	if len(o.names) == 0 {
		o.names = all
	}
	if o.changed == "" {
		return nil
	}
	touched, err := changedSince(ctx, o.app.courseDir, o.changed)
	if err != nil {
		return err
	}
	o.names = slices.DeleteFunc(slices.Clone(o.names), func(name string) bool { return !touched[name] })
	return nil
}

// changedSince asks git which exercises differ from a revision, in files that it
// knows and in files that it does not know yet.
func changedSince(ctx context.Context, dir, revision string) (map[string]bool, error) {
	touched := map[string]bool{}
	for _, args := range [][]string{
		{"diff", "--name-only", "--no-renames", "--relative", "-z", "--end-of-options", revision, "--", "exercises", "reference"},
		{"ls-files", "--others", "--exclude-standard", "-z", "--", "exercises", "reference"},
	} {
		git := exec.CommandContext(ctx, "git", args...)
		git.Dir = dir
		out, err := git.Output()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return nil, usage("give a revision of the course's repository, such as origin/main", "--changed %s: git: %s", revision, strings.TrimSpace(string(exit.Stderr)))
		} else if err != nil {
			return nil, fmt.Errorf("--changed: %w", err)
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			if parts := strings.Split(name, "/"); len(parts) > 2 {
				touched[parts[1]] = true
			}
		}
	}
	return touched, nil
}

func (o *checkOptions) check(ctx context.Context, course *exercises.Course) ([]*prove.Report, error) {
	with := prove.CheckOptions{Root: o.app.courseDir, Seeds: o.seeds, Workers: runtime.NumCPU()}
	if o.app.err.live && !o.quiet {
		p := newProgress(o.app.err, o.app.now)
		stop := p.start()
		defer stop()
		with.Progress, o.sandbox.Progress = p.beside, p.beside
	}
	reports := []*prove.Report{}
	if len(o.names) == 0 {
		return reports, nil
	}
	g, done, err := openGrader(ctx, o.sandbox)
	if err != nil {
		return nil, err
	}
	for _, name := range o.names {
		r, err := prove.Check(ctx, g, course, name, with)
		if err != nil {
			o.app.closed(done())
			return nil, err
		}
		reports = append(reports, r)
	}
	o.app.closed(done())
	return reports, nil
}

func (o *checkOptions) asJSON(reports []*prove.Report) error {
	e := json.NewEncoder(o.app.out)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Exercises []*prove.Report `json:"exercises"`
	}{reports})
}

// text shows what was found, how far limits are from what they separate, and a
// line for each exercise.
func (o *checkOptions) text(reports []*prove.Report) error {
	p := o.app.out.palette()
	var b strings.Builder
	for _, r := range reports {
		for _, f := range r.Findings {
			f.File = filepath.Join(o.app.courseDir, filepath.FromSlash(f.File))
			fmt.Fprintf(&b, "%s\n", indented(f.String()))
		}
	}
	for _, r := range reports {
		b.WriteString(o.margins(r))
	}
	for _, r := range reports {
		mark := p.Green("✓")
		if len(r.Findings) > 0 {
			mark = p.Red("✗")
		}
		fmt.Fprintf(&b, "%s %s: %d findings, %d submissions\n", mark, r.Exercise, len(r.Findings), r.Submissions)
	}
	if len(reports) == 0 {
		b.WriteString("nothing to check\n")
	}
	return o.app.print("%s", b.String())
}

// indented keeps the lines of a text, such as a compiler's, below the first.
func indented(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, l := range lines {
		lines[i] = terminal.Escape(l)
	}
	return strings.Join(lines, "\n    ")
}

// margins is the table of one exercise's limits.
func (o *checkOptions) margins(r *prove.Report) string {
	if len(r.Margins) == 0 {
		return ""
	}
	width := len("check")
	for _, m := range r.Margins {
		width = max(width, len(m.Check))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %8s  %8s  %8s", r.Exercise, terminal.Pad("check", width), "passes", "limit", "fails")
	if o.calibrate {
		fmt.Fprintf(&b, "  %8s", "proposed")
	}
	for _, m := range r.Margins {
		fmt.Fprintf(&b, "\n%s  %s  %8s  %8.4g  %8s", terminal.Pad("", len(r.Exercise)), terminal.Pad(m.Check, width), ratio(m.Highest), m.Limit, ratio(m.Lowest))
		if o.calibrate {
			fmt.Fprintf(&b, "  %8.4g", m.Proposed)
		}
		for _, at := range []*prove.Reading{m.Highest, m.Lowest} {
			if at != nil {
				fmt.Fprintf(&b, "  %s", at.Submission)
			}
		}
	}
	return b.String() + "\n"
}

func ratio(r *prove.Reading) string {
	if r == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", r.Ratio)
}
