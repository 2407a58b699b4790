package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"grade/grader/lang/golang/vet"
)

// newImportsTopic is a help topic on what a submission may import, and why not more.
func newImportsTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("What a submission may import of the standard library. The boundary of a submission is\n" +
		"the sandbox; this list keeps to what an exercise needs, and tells the rest early.\n")
	for _, group := range vet.Packages() {
		fmt.Fprintf(&b, "\n%s:\n\n", group.Title)
		for _, p := range group.Packages {
			fmt.Fprintf(&b, "  %-16s %s\n", p.Path, p.Why)
		}
	}
	b.WriteString("\nWhat is not in the list is refused, unless the exercise opens it: imports in its\nexercise.yaml.")
	return &cobra.Command{Use: "imports", Short: "What a submission may import", Long: b.String()}
}
