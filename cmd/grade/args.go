package main

import (
	"strings"

	"github.com/spf13/cobra"

	"grade/grader/report/terminal"
)

// anExercise accepts an exercise and up to more other arguments.
func anExercise(a *app, more int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usage(a.hintExercises(), "%s: which exercise?", cmd.Name())
		case len(args) > 1+more:
			return usage("see: "+cmd.CommandPath()+" --help", "%s: one argument too many: %q", cmd.Name(), args[1+more])
		}
		return nil
	}
}

// atMost accepts no more than n arguments.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usage("see: "+cmd.CommandPath()+" --help", "%s: one argument too many: %q", cmd.Name(), args[n])
		}
		return nil
	}
}

// aCommand accepts no arguments: an argument would be a misspelt command.
func aCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2 // as cobra has it for commands at the top
	hint := ""
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		hint = "did you mean: " + cmd.CommandPath() + " " + strings.Join(like, ", ")
	}
	return usage(hint, "unknown command %q for %q", args[0], cmd.CommandPath())
}

// didYouMean returns a hint with what a name resembles, or "".
func didYouMean(name string, names []string) string {
	all := &cobra.Command{SuggestionsMinimumDistance: 2} // as cobra has it for commands at the top
	for _, n := range names {
		all.AddCommand(&cobra.Command{Use: n, Run: func(*cobra.Command, []string) {}})
	}
	if like := all.SuggestionsFor(strings.ToLower(strings.Trim(name, "./"))); name != "" && len(like) > 0 {
		return "did you mean " + strings.Join(like[:min(len(like), 3)], " or ") + "? "
	}
	return ""
}

// hintExercises lists the exercises that can be loaded.
func (a *app) hintExercises() string {
	c, err := a.course()
	if err != nil {
		return "see: grade list"
	}
	names, err := c.Names()
	if err != nil {
		return "see: grade list"
	}
	return thereAre(names)
}

// completeExercise completes the first argument with the names of exercises, and
// leaves a second one to the shell, as a folder.
func completeExercise(a *app) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		return a.completeNames()
	}
}

// completeNames offers every exercise that can be loaded, with its title.
func (a *app) completeNames() ([]string, cobra.ShellCompDirective) {
	list, _, err := a.exercises()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var offers []string
	for _, e := range list {
		offers = append(offers, cobra.CompletionWithDesc(e.Name, terminal.Escape(e.Title)))
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}
