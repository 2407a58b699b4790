package summary

import (
	"fmt"
	"strings"

	"grade/grader/prove"
	"grade/grader/report/terminal"
	"grade/grader/report/wording"
)

// Explanations shows failed checks with both values of what differs, and with what the
// program wrote. It is for the exercise's author alone.
func Explanations(list []prove.Explanation) string {
	var b strings.Builder
	for _, x := range list {
		fmt.Fprintf(&b, "%s: %s: %s; seed %s\n", terminal.Start(x.Submission), x.Check, x.Verdict, x.Seed)
		for _, d := range x.Differs {
			fmt.Fprintf(&b, "    %s\n", indented(d))
		}
		b.WriteString(output("standard output", x.Stdout))
		b.WriteString(output("standard error", x.Stderr))
	}
	return b.String()
}

// output shows what a program wrote, with a mark before each line, so that none of it looks
// like a line of ours or a command to a runner of CI.
func output(what, text string) string {
	const most, width = 60, 200
	if text = strings.TrimSpace(text); text == "" || text == "PASS" { // which go test always says
		return ""
	}
	lines, more := terminal.Lines(text, most, width)
	s := "    " + what + ":\n    | " + strings.Join(lines, "\n    | ") + "\n"
	if more > 0 {
		s += "    " + wording.Plural(more, "more line") + "\n"
	}
	return s
}
