package main

import (
	"fmt"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"grade/grader/report/terminal"
)

func newSubmissionSave(a *app) *cobra.Command {
	o := &submissionNamed{app: a}
	return o.arguments(&cobra.Command{
		Use:   "save EXERCISE NAME",
		Short: "Store a submission that was laid out to be changed",
		Long: `Store a submission that "edit" or "refresh" has laid out, and remove its folder there.

It is stored as edits of the base that its expect.yaml names, or whole if that names none
(as of accepted submissions) or if the edits would be no smaller. Nothing is graded: run
"grade exercise check" to see its verdict.`,
		Example: `  grade exercise submission save autograd wrong_answer/no-chain-rule`,
		RunE:    func(*cobra.Command, []string) error { return o.hinted(o.save()) },
	})
}

func (s *submissionNamed) save() error {
	w, err := s.app.workspace(s.exercise)
	if err != nil {
		return err
	}
	saved, err := w.Save(s.name)
	if err != nil {
		return err
	}
	for _, name := range saved.Files {
		file := filepath.Join(s.app.courseDir, filepath.FromSlash(path.Join(saved.Dir, name)))
		if err := s.app.print("%s\n", terminal.Escape(file)); err != nil {
			return err
		}
	}
	how := "whole, " + countOf(saved.Lines, "line")
	if saved.Base != "" {
		how = fmt.Sprintf("%s in %s, edits of %s", countOf(saved.Lines, "line"), countOf(saved.Hunks, "hunk"), saved.Base)
	} else if saved.Reason != "" {
		how += ": " + saved.Reason
	}
	if err := s.app.print("%s: %s\n", s.name, terminal.Escape(how)); err != nil {
		return err
	}
	if n := len(saved.Drifted); n > 0 {
		_, err = fmt.Fprintf(s.app.err, "next: the edits of %s cannot be made any more; run: grade exercise submission refresh %s%s\n", countOf(n, "submission"), s.exercise, s.app.sameCourse())
	}
	return err
}
