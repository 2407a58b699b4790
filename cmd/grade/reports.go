package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"grade/grader/fault"
	"grade/grader/gradebook"
	"grade/grader/report"
	"grade/grader/report/files"
)

// parseReports parses the values of --report. It refuses, before anything is graded, a
// report that could not be written later. Of an unknown format it offers those that fit.
func parseReports(values []string, fits func(report.Format) bool, check func(files.Target) error) (list files.Targets, err error) {
	for _, v := range values {
		if err := knownFormat(v, fits); err != nil {
			return nil, err
		}
		if err := list.Add(v, check); err != nil {
			return nil, &fault.Error{Message: "--report " + v, Advice: "see: grade help reports", Err: err}
		}
	}
	return list, nil
}

// knownFormat refuses a value of --report whose format there is not.
func knownFormat(value string, fits func(report.Format) bool) error {
	name, _, _ := strings.Cut(value, "=")
	if _, known := report.FormatNamed(name); known {
		return nil
	}
	var names []string
	for _, f := range report.Formats() {
		if fits(f) {
			names = append(names, f.Name)
		}
	}
	return usage(didYouMean(name, names)+"see: grade help reports", "--report %s: there is no format %q; there are %s", value, name, strings.Join(names, ", "))
}

// anyFormat fits a report about many: with {student} and {exercise} it may be of one.
func anyFormat(report.Format) bool { return true }

// ofOne checks a report of a single grading.
func ofOne(id report.Identity) func(files.Target) error {
	return func(t files.Target) error {
		err := files.OfOne(t, id)
		if err != nil && !t.OfOne() {
			err = fmt.Errorf("%w; see: grade batch --help", err)
		}
		return err
	}
}

// reportFlags are the reports about many submissions.
type reportFlags struct {
	values  []string // of --report
	targets files.Targets
}

func (r *reportFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&r.values, "report", nil, "write a report, `FORMAT=FILE`, as often as given; with {student} and {exercise} in FILE, one for each submission; see: grade help reports")
	_ = cmd.RegisterFlagCompletionFunc("report", completeReportsIf(anyFormat))
}

// check refuses, before anything is graded, a report that could not be written later.
func (r *reportFlags) check() (err error) {
	r.targets, err = parseReports(r.values, anyFormat, files.OfMany)
	return err
}

// warnings returns the warnings about the rules and about the reports.
func (r *reportFlags) warnings(p *gradebook.Policy, b *gradebook.Book) []string {
	list := p.Warnings(b)
	for _, t := range r.targets {
		list = append(list, t.Warnings(b)...)
	}
	return list
}

// completeReportsIf completes the formats that fit, and after one of them files.
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

github-annotations=- follows the text report; any other format takes its place. Paths are
relative to GITHUB_WORKSPACE, or else to the current folder.`)
	return &cobra.Command{Use: "reports", Short: "The formats of submit --report", Long: b.String()}
}
