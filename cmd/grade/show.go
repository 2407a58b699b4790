package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/exercises/course/readme"
	"grade/grader/report/terminal/markdown"
	"grade/grader/wholefile"
)

type showOptions struct {
	app      *app
	exercise string
	limits   bool
	html     string
}

func newShow(a *app) *cobra.Command {
	o := &showOptions{app: a}
	cmd := &cobra.Command{
		Use:     "show EXERCISE",
		Short:   "Show what an exercise asks",
		GroupID: groupExercises,
		Long: `Show an exercise's README: the API to write, every rule that is graded, and the
limits on memory and speed.

On a terminal it is set for reading, page by page: PAGER names the program for that,
PAGER=cat has none. In a pipe it is the Markdown source. With --html it is a page for a
browser, in one file, with its pictures.`,
		Example: `  grade show autograd
  grade show autograd > autograd.md
  grade show autograd --html autograd.html
  grade show autograd --limits         # everything that can end a run or a build`,
		Args:              anExercise(a, 0),
		ValidArgsFunction: completeExercise(a),
		RunE: func(_ *cobra.Command, args []string) error {
			o.exercise = args[0]
			return o.run()
		},
	}
	cmd.Flags().BoolVar(&o.limits, "limits", false, "show the limits instead: of a submission, its build, its runs, its grading")
	cmd.Flags().StringVar(&o.html, "html", "", "write it as a web page with its pictures to `FILE`, which is replaced; - is standard output")
	return cmd
}

func (o *showOptions) run() error {
	e, err := o.app.exercise(o.exercise)
	if err != nil {
		return err
	}
	if o.html != "" && o.limits {
		return usage("give one of the two", "--limits and --html show different things")
	}
	if o.html != "" {
		return o.page(e)
	}
	text := e.Readme
	if o.limits {
		text = []byte(limitsOf(e))
	}
	if !o.app.out.IsTerminal() {
		return o.app.print("%s", text)
	}
	shown := markdown.Render(text, markdown.Options{Color: o.app.out.Color, Width: o.app.out.Width})
	if len(e.Pictures) > 0 && !o.limits {
		shown += fmt.Sprintf("\nIts pictures, for a browser: grade show %s --html %[1]s.html%s\n", e.Name, o.app.sameCourse())
	}
	return o.app.page(shown)
}

// page writes the exercise as a web page.
func (o *showOptions) page(e *course.Exercise) error {
	var b bytes.Buffer
	if err := readme.Page(&b, e); err != nil {
		return err
	}
	if o.html == "-" {
		return o.app.print("%s", b.Bytes())
	}
	if err := wholefile.Write(o.html, func(w io.Writer) error { _, err := b.WriteTo(w); return err }); err != nil {
		return fmt.Errorf("write %s: %w", o.html, err)
	}
	return nil
}
