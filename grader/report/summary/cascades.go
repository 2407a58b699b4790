package summary

import (
	"fmt"
	"strings"

	"grade/grader/prove"
	"grade/grader/report/terminal"
)

// cascades is the table of what each mistake costs beyond the checks that its expect.yaml
// declares. It leaves out those that cost nothing more.
func cascades(r *prove.Report) string {
	width, more := len("one mistake costs"), 0
	for _, c := range r.Cascades {
		if c.Beyond > 0 {
			more++
			width = max(width, len(c.Submission))
		}
	}
	if more == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  lost  beyond  in hidden tests that are not declared\n", r.Exercise, terminal.Pad("one mistake costs", width))
	for _, c := range r.Cascades[:more] {
		fmt.Fprintf(&b, "%s  %s  %4d  %6d  %s", terminal.Pad("", len(r.Exercise)), terminal.Pad(c.Submission, width), c.Lost, c.Beyond, strings.Join(c.Others, " "))
		if c.Reason != "" {
			fmt.Fprintf(&b, " (%s)", terminal.Escape(c.Reason))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s  %d of %d mistakes cost nothing beyond what they declare; the median of those without a reason is %d points\n",
		terminal.Pad("", len(r.Exercise)), len(r.Cascades)-more, len(r.Cascades), r.MedianBeyond)
	return b.String()
}
