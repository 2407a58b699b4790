package main

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/gradebook"
)

// policyFlag adds the flag that names a grade.yaml.
func policyFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "policy", "", "take deadlines and weights from this `FILE`, not from a grade.yaml of the course or of the current folder")
	_ = cmd.MarkFlagFilename("policy", "yaml", "yml")
}

// standardResults is the folder of results if no other is given.
const standardResults = "grade-results"

// resultsFlag adds the flag that names a folder of results.
func resultsFlag(cmd *cobra.Command, dir *string, what string) {
	cmd.Flags().StringVar(dir, "results", standardResults, what)
	_ = cmd.MarkFlagDirname("results")
}

// policy reads a grade.yaml: the file, or the course's own, or the one in the current
// folder, or none. It never looks where students write.
func (a *app) policy(file string) (*gradebook.Policy, error) {
	names, err := a.names()
	if err != nil {
		return nil, err
	}
	name, data, err := a.readRules(file)
	switch {
	case err != nil:
		return nil, &fault.Error{Message: "read the rules of the course", Advice: "give a grade.yaml: --policy FILE", Err: err}
	case name == "":
		return gradebook.NewPolicy(names), nil
	}
	return gradebook.ReadPolicy(name, data, course.Folder(filepath.Dir(name)), names)
}

// readRules reads the first grade.yaml that is there; with an empty name there is none. The
// name is also that of one that cannot be read.
func (a *app) readRules(file string) (name string, data []byte, err error) {
	for _, name := range a.policyFiles(file) {
		data, err := course.ReadFile(name)
		if !errors.Is(err, fs.ErrNotExist) || file != "" {
			return name, data, err
		}
	}
	return "", nil, nil
}

// policyFiles lists where the rules may lie: the first that is there counts.
func (a *app) policyFiles(file string) []string {
	switch {
	case file != "":
		return []string{file}
	case a.courseDir != "":
		return []string{policyOf(a.courseDir), course.PolicyFile}
	}
	return []string{course.PolicyFile}
}

// policyOf returns the path of a course's rules.
func policyOf(courseDir string) string { return filepath.Join(courseDir, course.PolicyFile) }
