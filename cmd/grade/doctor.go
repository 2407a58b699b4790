package main

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"grade/grader/report/terminal"
	"grade/sandbox/checkup"
)

// errUnwell ends a doctor that found a reason why grades would not count.
var errUnwell = errors.New("this machine cannot give a grade that counts: see the lines marked ✗")

// advice holds this command's hint for each cause.
var advice = map[checkup.Cause]string{
	checkup.NoEngine:      "start Docker (on Linux: sudo systemctl start docker) and make sure that you may use it (docker ps); until then --sandbox process checks your own work",
	checkup.UnknownImages: "the first grade submit makes them; if that fails too, look at the engine's log",
	checkup.NoImages:      "the next grade submit makes them, which takes about half a minute",
}

type doctorOptions struct {
	app     *app
	sandbox sandboxFlags
}

func newDoctor(a *app) *cobra.Command {
	o := &doctorOptions{app: a}
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Check that this machine can grade, and say what to do where it cannot",
		GroupID: groupAbout,
		Long: `Check the Go toolchain, the Docker engine, its images and control groups, and how
steady this machine's clock is. Each line says what was found, and what to do where
something is wrong. Nothing is changed, except that containers which a killed grading
left behind are removed.

The exit status is 3 if this machine cannot give a grade that counts.`,
		Example:           `  grade doctor`,
		Args:              atMost(0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&o.sandbox.BuildImage, "build-image", "", "check with this Docker `IMAGE` for builds")
	cmd.Flags().StringVar(&o.sandbox.Runtime, "runtime", "", "check with this OCI `RUNTIME`")
	return cmd
}

func (o *doctorOptions) run(ctx context.Context) error {
	findings := slices.Concat([]checkup.Finding{checkup.Go(ctx)}, engineFindings(ctx, o.sandbox), []checkup.Finding{checkup.Races(o.sandbox.BuildImage), checkup.CPUs(), checkup.Noise()})
	unwell := false
	for _, f := range findings {
		unwell = unwell || f.Grave
		if err := o.line(f); err != nil {
			return err
		}
	}
	if unwell {
		return errUnwell
	}
	return nil
}

func (o *doctorOptions) line(f checkup.Finding) error {
	p, todo := o.app.out.Palette(), cmp.Or(advice[f.Cause], f.Advice)
	mark := p.Green("✓")
	switch {
	case f.Grave:
		mark = p.Red("✗")
	case todo != "":
		mark = p.Yellow("!")
	}
	if err := o.app.print("%s %s  %s\n", mark, terminal.Pad(f.What, 8), terminal.Escape(f.Found)); err != nil {
		return err
	}
	if todo == "" {
		return nil
	}
	return o.app.print("            %s\n", terminal.Escape(todo))
}
