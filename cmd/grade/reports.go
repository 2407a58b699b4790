package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grade/grader/fault"
	"grade/grader/report"
	"grade/grader/verdict"
	"grade/grader/wholefile"
)

// toStdout stands for standard output in place of a file's name.
const toStdout = "-"

// reportTarget is a report that was asked for: --report FORMAT=FILE.
type reportTarget struct {
	report.Format
	file string
}

// parseReports reads the values of --report of a single grading.
func parseReports(values []string, id report.Identity) ([]reportTarget, error) {
	return parseTargets(values, func(t reportTarget) error {
		if !t.OfOne() {
			return fmt.Errorf("%s is of many submissions; see: grade batch --help", t.Name)
		}
		if err := writable(t.file); err != nil {
			return err
		}
		return t.Lacks(id)
	})
}

// parseTargets reads the values of --report and refuses, before anything is graded,
// what could not be written afterwards.
func parseTargets(values []string, check func(reportTarget) error) ([]reportTarget, error) {
	const hint = "see: grade help reports"
	var list []reportTarget
	seen := map[string]bool{}
	for _, v := range values {
		format, file, ok := strings.Cut(v, "=")
		f, known := report.FormatNamed(format)
		switch {
		case !known:
			return nil, usage(hint, "--report %s: there is no format %q; there are %s", v, format, strings.Join(report.FormatNames(), ", "))
		case !ok || file == "":
			return nil, usage(hint, "--report %s: want FORMAT=FILE, or FORMAT=- for standard output", v)
		case seen[filepath.Clean(file)]:
			return nil, usage(hint, "--report %s: another report goes there too", v)
		}
		t := reportTarget{f, file}
		if err := check(t); err != nil {
			return nil, &fault.UsageError{Message: "--report " + v, Hint: hint, Err: err}
		}
		seen[filepath.Clean(file)] = true
		list = append(list, t)
	}
	return list, nil
}

// writable finds out whether there can be a file of this name.
func writable(file string) error {
	if file == toStdout {
		return nil
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", file)
	}
	_, err := os.Stat(filepath.Dir(file))
	return err
}

// onStdout is the report that goes to standard output, if one does.
func onStdout(list []reportTarget) (t reportTarget, ok bool) {
	i := slices.IndexFunc(list, func(t reportTarget) bool { return t.file == toStdout })
	if i < 0 {
		return t, false
	}
	return list[i], true
}

// writeReports writes the files, then standard output: what cannot be written keeps no
// other report back.
func (o *submitOptions) writeReports(r *verdict.Result) error {
	var errs []error
	for _, t := range o.targets {
		if t.file != toStdout {
			errs = append(errs, writeFile(t.file, func(f io.Writer) error { return t.Write(f, r, o.identity) }))
		}
	}
	t, taken := onStdout(o.targets)
	if !taken || t.Beside {
		errs = append(errs, o.print(r))
	}
	if taken {
		errs = append(errs, t.Write(o.app.out, r, o.identity))
	}
	return errors.Join(errs...)
}

// print writes what is printed where no report was asked for.
func (o *submitOptions) print(r *verdict.Result) error {
	if o.json {
		return report.JSON(o.app.out, r)
	}
	return report.Text(o.app.out, r, o.app.out.textOptions())
}

// withoutVerdict tells the readers that can be told so. All other reports stay what
// they are: an old grade is better than none. An error of ours is not for a student, and
// neither is one of whoever runs grade, nor a part of either.
func (o *submitOptions) withoutVerdict(cause error) {
	message := "No grade: the grader could not finish. This says nothing about the submission; earlier grades stand. " +
		"Submit again later, or tell whoever runs the course."
	if u := (*fault.UsageError)(nil); errors.As(cause, &u) && u.Student != "" {
		message = "No grade: this cannot be graded as it is.\n" + u.Student
	}
	for _, t := range o.targets {
		if !t.TellsNoVerdict() {
			continue
		}
		if t.file == toStdout {
			o.app.closed(t.WriteNoVerdict(o.app.out, message))
			continue
		}
		o.app.closed(writeFile(t.file, func(f io.Writer) error { return t.WriteNoVerdict(f, message) }))
	}
}

// writeFile writes a file whole or not at all, and names it where that fails.
func writeFile(name string, write func(io.Writer) error) error {
	if err := wholefile.Write(name, write); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// completeReportsIf offers the formats that fit, and behind one of them files.
func completeReportsIf(fits func(report.Format) bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		if strings.Contains(typed, "=") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var list []string
		for _, f := range report.Formats() {
			if fits(f) {
				list = append(list, cobra.CompletionWithDesc(f.Name+"=", f.Summary))
			}
		}
		return list, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
}

func newReportsTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("grade submit --report FORMAT=FILE writes the same grading for another reader, as often as\n" +
		"it is given. FILE is replaced as a whole, and - is standard output.\n\n")
	for _, f := range report.Formats() {
		fmt.Fprintf(&b, "  %-24s %s\n", f.Name, f.Summary)
	}
	b.WriteString(`
Without a verdict (exit status 2, 3 or 130) nothing is written and an older FILE stays,
except that gradescope gets its message and no score, and prairielearn "gradable": false.

classroom50 takes CLASSROOM, ASSIGNMENT, USERNAME, MODE, SUBMISSION_TAG, COMMIT_URL,
RELEASE_URL, REVIEW_URL, GITHUB_ACTOR and GITHUB_ACTOR_ID from the environment, and
COMMIT_TIME, which is what git show -s --format=%cI prints of the graded commit.

github-classroom-base64 is one line, for a step: echo "result=$(cat FILE)" >> "$GITHUB_OUTPUT"

github-annotations=- follows the text report; any other format takes its place. Files are
named from GITHUB_WORKSPACE, or else from the current folder.`)
	return &cobra.Command{Use: "reports", Short: "The formats of submit --report", Long: b.String()}
}
