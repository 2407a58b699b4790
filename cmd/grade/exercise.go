package main

import (
	"os"

	"github.com/spf13/cobra"
)

// newExercise groups the commands for authors of exercises.
func newExercise(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "exercise",
		Short:   "Write an exercise, and prove that it grades right",
		GroupID: groupInstructors,
		Long: `Commands for those who write exercises. An exercise that cannot tell right from
wrong is a broken exercise; these say where.

The course is that of --course, or else the current folder, if it holds exercises/,
or else the built-in one.`,
		Example: `  grade exercise new gradclip      # a small one that works, to begin with
  grade exercise check             # everything that can be wrong
  grade exercise mutate autograd   # does a small mistake cost points?
  grade exercise diff origin/main:autograd autograd   # whose score does a change change?`,
		Args: aCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		// Cobra offers the commands below by itself.
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	for _, sub := range []*cobra.Command{newExerciseNew(a), newExerciseCheck(a), newExerciseSeeds(a), newExerciseMutate(a), newExerciseDiff(a)} {
		cmd.AddCommand(inCourse(a, sub))
	}
	cmd.AddCommand(newExerciseSubmission(a))
	return cmd
}

// inCourse makes a command use the course of the current folder. It does so before
// arguments are checked or completed, which is before cobra calls any other hook. Commands
// for students do not use it: a submission's folder decides only what is submitted.
func inCourse(a *app, cmd *cobra.Command) *cobra.Command {
	settle := func() {
		if info, err := os.Stat("exercises"); a.courseDir == "" && err == nil && info.IsDir() {
			a.courseDir, a.here = ".", true
		}
	}
	check, complete := cmd.Args, cmd.ValidArgsFunction
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		settle()
		return check(cmd, args)
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		settle()
		return complete(cmd, args, word)
	}
	return cmd
}
