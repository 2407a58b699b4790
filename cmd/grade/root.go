package main

import (
	"strings"

	"github.com/spf13/cobra"

	"grade/grader/report"
)

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "grade",
		Short: "Grade solutions of Go exercises",
		Long: `grade runs a solution of a Go exercise with hidden tests, in a sandbox, and says
how many points it gets for correctness, data races, memory and speed. Memory and
speed are judged against a reference solution on the same machine.`,
		Example: `  grade list                # which exercises there are
  grade start autograd      # begin one, in the folder autograd
  grade submit autograd     # grade what is in that folder`,
		SilenceErrors: true,
		SilenceUsage:  true,
		// An error before this is a fault of the arguments.
		PersistentPreRun: func(*cobra.Command, []string) { a.started = true },
	}
	root.DisableSuggestions = true // they are several lines; see unknownCommand
	root.SetFlagErrorFunc(flagError)
	root.Version = "x" // has cobra add --version
	root.SetVersionTemplate(versionLine())
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.PersistentFlags().StringVar(&a.courseDir, "course", "", "take the exercises of the course in `DIR`, not the built-in ones")
	_ = root.MarkPersistentFlagDirname("course") // an error would say that there is no such flag

	root.AddGroup(&cobra.Group{ID: groupExercises, Title: "Exercises:"}, &cobra.Group{ID: groupInstructors, Title: "For instructors:"},
		&cobra.Group{ID: groupAbout, Title: "About grade:"})
	root.SetCompletionCommandGroupID(groupAbout)
	root.SetHelpCommand(newHelp())
	root.AddCommand(newList(a), newShow(a), newStart(a), newSubmit(a), newLogin(a), newServe(a), newWork(a), newBatch(a), newCI(a), newRegrade(a), newGradebook(a), newExercise(a), newDoctor(a), newVersion(a), newExitCodes(), newJSONSchema(), newBookSchema(), newReportsTopic(), newImportsTopic())
	strictCompletion(root)
	return root
}

// strictCompletion has cobra's completion command refuse a shell that it does not know: cobra
// checks no arguments of a command that cannot be run.
func strictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args, cmd.Example = aCommand, "  source <(grade completion bash)"
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// The groups of commands in the help text.
const (
	groupExercises   = "exercises"
	groupInstructors = "instructors"
	groupAbout       = "about"
)

// newHelp is cobra's help command, except that an unknown topic is an error.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND | TOPIC]",
		Short:   "Help about a command or a topic",
		GroupID: groupAbout,
		Long:    `Help about a command or a topic. "grade --help" lists both.`,
		Example: `  grade help submit
  grade help exit-codes`,
		ValidArgsFunction: completeCommands,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				about := strings.Join(args, " ")
				return usage(didYouMean(about, commandNames(cmd.Root()))+"see: grade --help", "there is no help on %q", about)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

func completeCommands(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	about, _, err := cmd.Root().Find(args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, c := range about.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// newJSONSchema is a help topic rather than a page, so that the schema matches this binary.
func newJSONSchema() *cobra.Command {
	return &cobra.Command{Use: "json", Short: "The JSON Schema of submit --json", Long: string(report.ResultSchema)}
}

func newBookSchema() *cobra.Command {
	return &cobra.Command{Use: "json-of-many", Short: "The JSON Schema of --report json of batch, gradebook and ci", Long: string(report.GradebookSchema)}
}
