package main

import (
	"os"

	"github.com/spf13/cobra"
)

// newExercise groups what authors of exercises do.
func newExercise(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "exercise",
		Short:   "Write an exercise, and prove that it grades right",
		GroupID: groupAuthors,
		Long: `Commands for those who write exercises. An exercise that cannot tell right from
wrong is a broken exercise; these say where.

The course is that of --course, or else the current folder, if it holds exercises/,
or else the built-in one.`,
		Example: `  grade exercise new gradclip      # a small one that works, to begin with
  grade exercise check             # everything that can be wrong
  grade exercise mutate autograd   # does a small mistake cost points?`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		// Cobra offers the commands below by itself.
		ValidArgsFunction: cobra.NoFileCompletions,
		PersistentPreRun: func(*cobra.Command, []string) {
			a.started = true // what the root's would do
			if info, err := os.Stat("exercises"); a.courseDir == "" && err == nil && info.IsDir() {
				a.courseDir = "."
			}
		},
	}
	cmd.AddCommand(newExerciseNew(a), newExerciseCheck(a), newExerciseMutate(a))
	return cmd
}
