package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grade/grader/report/terminal"
)

// shellWord is a path as a shell takes it for one word, in a command that is suggested.
func shellWord(path string) string {
	if path != "" && !strings.ContainsAny(path, " \t\n'\"\\$`&|;()<>*?[]#~!{}") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

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

// wantOne accepts one argument, and says else what it has to be.
func wantOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage("", "%s: want one %s", cmd.Name(), what)
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
func didYouMean(name string, names []string) string { return meant(resembling(name, names)) }

// mostMeant is how many names a hint offers.
const mostMeant = 3

// meant returns a hint with some names, and how many there are if there are more; "" without
// any.
func meant(names []string) string {
	switch {
	case len(names) == 0:
		return ""
	case len(names) > mostMeant:
		return fmt.Sprintf("did you mean %s, or another of the %d? ", strings.Join(names[:mostMeant], " or "), len(names))
	}
	return "did you mean " + strings.Join(names, " or ") + "? "
}

// resembling returns the names that a name resembles.
func resembling(name string, names []string) []string {
	all := &cobra.Command{SuggestionsMinimumDistance: 2} // as cobra has it for commands at the top
	for _, n := range names {
		all.AddCommand(&cobra.Command{Use: n, Run: func(*cobra.Command, []string) {}})
	}
	if name == "" {
		return nil
	}
	return all.SuggestionsFor(strings.ToLower(strings.Trim(name, "./")))
}

// flagError adds to an unknown flag those that it resembles.
func flagError(cmd *cobra.Command, err error) error {
	unknown := (*pflag.NotExistError)(nil)
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	like := resembling(unknown.GetSpecifiedName(), names)
	for i := range like {
		like[i] = "--" + like[i]
	}
	return usage(meant(like)+"see: "+cmd.CommandPath()+" --help", "%v", err)
}

// unknownCommand returns cobra's error about a command that there is not, as one line with a
// hint; nil if the arguments name a command.
func unknownCommand(root *cobra.Command, args []string) error {
	_, _, err := root.Find(args)
	if err == nil {
		return nil
	}
	hint := "see: grade --help"
	for _, name := range args {
		if err.Error() == fmt.Sprintf("unknown command %q for %q", name, root.CommandPath()) {
			hint = didYouMean(name, commandNames(root)) + hint
		}
	}
	return usage(hint, "%v", err)
}

// commandNames lists the commands and topics of help.
func commandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			names = append(names, c.Name())
		}
	}
	return names
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
