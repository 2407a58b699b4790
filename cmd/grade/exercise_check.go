package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/prove"
	"grade/grader/report/terminal"
)

type checkOptions struct {
	proving
	names     []string
	changed   string
	seeds     int
	calibrate bool
}

func newExerciseCheck(a *app) *cobra.Command {
	o := &checkOptions{proving: proving{app: a}}
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
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return a.completeNames() },
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.changed, "changed", "", "check only exercises that differ from the git `REVISION`; all, if go.mod or the kit does")
	f.IntVar(&o.seeds, "seeds", 3, "on how many inputs the reference must keep its points; of 2 or more, one\nsees which of its answers stand in the hidden tests")
	f.BoolVar(&o.calibrate, "calibrate", false, "propose limits, from what was measured")
	o.addFlags(cmd)
	for _, flag := range []string{"changed", "seeds"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
	return cmd
}

func (o *checkOptions) run(ctx context.Context) error {
	if err := o.proving.check(); err != nil {
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
	reports, err := o.gradeAll(ctx, course)
	if err != nil {
		return err
	}
	result := struct {
		Exercises []*prove.Report `json:"exercises"`
	}{reports}
	if err := o.write(result, func() error { return o.text(reports) }); err != nil {
		return err
	}
	if slices.ContainsFunc(reports, func(r *prove.Report) bool { return len(r.Findings) > 0 }) {
		return errPointsMissing
	}
	return nil
}

// choose settles which exercises are checked.
func (o *checkOptions) choose(ctx context.Context, course *course.Course) error {
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
	touched, every, err := changedSince(ctx, o.app.courseDir, o.changed)
	if err != nil || every {
		return err
	}
	o.names = slices.DeleteFunc(slices.Clone(o.names), func(name string) bool { return !touched[name] })
	return nil
}

// shared are what all exercises of a course are built with. In grade's own course the
// kit is observe/.
var shared = []string{"go.mod", "go.sum", course.KitDir, "observe"}

// changedSince asks git which exercises differ from a revision, in files that it
// knows and in files that it does not know yet; all, if something shared differs.
func changedSince(ctx context.Context, dir, revision string) (touched map[string]bool, all bool, err error) {
	touched = map[string]bool{}
	below := append([]string{"--", "exercises", "reference"}, shared...)
	for _, args := range [][]string{
		append([]string{"diff", "--name-only", "--no-renames", "--relative", "-z", "--end-of-options", revision}, below...),
		append([]string{"ls-files", "--others", "--exclude-standard", "-z"}, below...),
	} {
		out, err := git(ctx, dir, args...)
		if err != nil {
			return nil, false, fmt.Errorf("--changed %s: %w", revision, err)
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			parts := strings.Split(name, "/")
			all = all || slices.Contains(shared, parts[0])
			if len(parts) > 2 {
				touched[parts[1]] = true
			}
		}
	}
	return touched, all, nil
}

func (o *checkOptions) gradeAll(ctx context.Context, course *course.Course) ([]*prove.Report, error) {
	reports := []*prove.Report{}
	if len(o.names) == 0 {
		return reports, nil
	}
	err := o.grade(ctx, func(g *grader.Grader, progress prove.Progress) error {
		with := prove.CheckOptions{Seeds: o.seeds, Workers: o.workers, Progress: progress}
		for _, name := range o.names {
			r, err := prove.Check(ctx, g, course, name, with)
			if err != nil {
				return err
			}
			reports = append(reports, r)
		}
		return nil
	})
	return reports, err
}

// text shows what was found, how far limits are from what they separate, and a
// line for each exercise.
func (o *checkOptions) text(reports []*prove.Report) error {
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
	b.WriteString(o.summary(reports))
	return o.app.print("%s", b.String())
}

// summary is the table of all exercises, which says of each whether it is sound.
func (o *checkOptions) summary(reports []*prove.Report) string {
	if len(reports) == 0 {
		return "nothing to check\n"
	}
	p, width := o.app.out.palette(), len("exercise")
	for _, r := range reports {
		width = max(width, len(r.Exercise))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  %s  checks  submissions  findings\n", terminal.Pad("exercise", width))
	for _, r := range reports {
		mark := p.Green("✓")
		if len(r.Findings) > 0 {
			mark = p.Red("✗")
		}
		fmt.Fprintf(&b, "%s %s  %6d  %11d  %8d\n", mark, terminal.Pad(r.Exercise, width), r.Checks, r.Submissions, len(r.Findings))
	}
	return b.String()
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
