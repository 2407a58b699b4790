package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/grader/report/terminal"
)

type listOptions struct{ app *app }

func newList(a *app) *cobra.Command {
	o := &listOptions{app: a}
	return &cobra.Command{
		Use:     "list",
		Short:   "List the exercises",
		GroupID: groupExercises,
		Long: `List the exercises of the course by its chapters: name, title, how hard it is and how
many hours it takes, what to solve before, and what it is about.

The order, and what is said beside the names, is that of exercises/chapters.yaml.

In a pipe there is a line for each exercise with its name, title, summary, chapter,
difficulty, hours and the exercises to solve before, separated by tabs.`,
		Example: `  grade list
  grade list --course ~/my-course
  grade list | cut -f 1`,
		Args:              atMost(0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return o.run() },
	}
}

// run lists the exercises that can be loaded, and then fails if one could not.
func (o *listOptions) run() error {
	c, err := o.app.course()
	if err != nil {
		return err
	}
	list, broken, err := c.LoadAll()
	if err != nil {
		return err
	}
	chapters, err := c.Chapters()
	broken = append(broken, err)
	loaded := map[string]*course.Exercise{}
	width := 0
	for _, e := range list {
		loaded[e.Name] = e
		width = max(width, len(e.Name))
	}
	for i, ch := range chapters {
		if err := o.chapter(ch, loaded, width, i == 0); err != nil {
			return err
		}
	}
	return errors.Join(broken...)
}

// chapter lists a chapter below its title. Exercises of a course without chapters have none
// to stand under.
func (o *listOptions) chapter(ch course.Chapter, loaded map[string]*course.Exercise, width int, first bool) error {
	title := ch.Title
	if title == "" && !first {
		title = "Other exercises"
	}
	if o.app.out.IsTerminal() && title != "" {
		if err := o.app.print("%s%s\n", map[bool]string{false: "\n"}[first], o.app.out.Palette().Underline(terminal.Escape(title))); err != nil {
			return err
		}
	}
	for _, entry := range ch.Entries {
		if e := loaded[entry.Name]; e != nil {
			if err := o.line(e, ch.Title, entry, width); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *listOptions) line(e *course.Exercise, chapter string, entry course.Entry, width int) error {
	title, summary := terminal.Escape(e.Title), terminal.Escape(e.Summary)
	if !o.app.out.IsTerminal() {
		fields := []string{e.Name, title, summary, terminal.Escape(chapter), string(entry.Difficulty), hours(entry), strings.Join(entry.After, " ")}
		return o.app.print("%s\n", strings.TrimRight(strings.Join(fields, "\t"), "\t"))
	}
	p := o.app.out.Palette()
	if err := o.app.print("%s  %s\n", p.Bold(terminal.Pad(e.Name, width)), title); err != nil {
		return err
	}
	lines := terminal.Wrap(summary, o.app.out.Width-width-2)
	if effort := entry.Effort(); effort != "" {
		lines = append(lines, effort)
	}
	for _, l := range lines {
		if err := o.app.print("%s  %s\n", terminal.Pad("", width), p.Dim(l)); err != nil {
			return err
		}
	}
	return nil
}

// hours is empty where none are stated.
func hours(e course.Entry) string {
	if e.Hours == 0 {
		return ""
	}
	return strconv.FormatFloat(e.Hours, 'g', -1, 64)
}
