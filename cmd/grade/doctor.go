package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"grade/grader/report/terminal"
	"grade/sandbox/docker"
	"grade/sandbox/toolchain"
)

// errUnwell is the end of a doctor that found something which keeps grade from
// giving a grade that counts.
var errUnwell = errors.New("this machine cannot give a grade that counts: see the lines marked ✗")

// finding is one line of the doctor's.
type finding struct {
	what   string
	found  string
	advice string // what to do; empty: nothing
	grave  bool   // keeps grade from giving a grade that counts
}

type doctorOptions struct {
	app     *app
	sandbox sandboxOptions
}

func newDoctor(a *app) *cobra.Command {
	o := &doctorOptions{app: a}
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Check that this machine can grade, and say what to do where it cannot",
		GroupID: groupAbout,
		Long: `Check the Go toolchain, the Docker engine, its images and control groups, and how
steady this machine's clock is. Each line says what was found, and what to do where
something is wrong. Nothing is changed.

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
	findings := append([]finding{checkGo(ctx)}, checkEngine(ctx, o.sandbox)...)
	findings = append(findings, checkCPUs(), checkNoise())
	unwell := false
	for _, f := range findings {
		unwell = unwell || f.grave
		if err := o.line(f); err != nil {
			return err
		}
	}
	if unwell {
		return errUnwell
	}
	return nil
}

func (o *doctorOptions) line(f finding) error {
	p := o.app.out.Palette()
	mark := p.Green("✓")
	switch {
	case f.grave:
		mark = p.Red("✗")
	case f.advice != "":
		mark = p.Yellow("!")
	}
	if err := o.app.print("%s %s  %s\n", mark, terminal.Pad(f.what, 8), terminal.Escape(f.found)); err != nil {
		return err
	}
	if f.advice == "" {
		return nil
	}
	return o.app.print("            %s\n", terminal.Escape(f.advice))
}

func checkGo(ctx context.Context) finding {
	g, err := toolchain.Find(ctx)
	if err != nil {
		return finding{what: "Go", found: err.Error(), advice: "put the go command on the path; grade compiles its own helpers with it", grave: true}
	}
	return finding{what: "Go", found: g.Version + " in " + g.Root}
}

// checkEngine looks at the engine and at all that depends on it.
func checkEngine(ctx context.Context, s sandboxOptions) []finding {
	e, err := openDocker(ctx, s)
	if err != nil {
		return []finding{{
			what: "engine", found: err.Error(), grave: true,
			advice: "start Docker (on Linux: sudo systemctl start docker) and make sure that you may use it (docker ps); until then --sandbox process checks your own work",
		}}
	}
	defer e.Close()
	info := e.Info()
	return []finding{
		{what: "engine", found: fmt.Sprintf("Docker %s at %s, runtime %s, linux/%s", e.Version(), e.Host(), info.Runtime, info.GoArch)},
		checkImages(ctx, e),
		checkCgroup(info.Cgroup),
	}
}

func checkImages(ctx context.Context, e *docker.Engine) finding {
	images, err := e.Images(ctx)
	if err != nil {
		return finding{what: "images", found: err.Error(), advice: "the first grade submit makes them; if that fails too, look at the engine's log", grave: true}
	}
	var have, lack []string
	for name, there := range images {
		if there {
			have = append(have, name)
		} else {
			lack = append(lack, name)
		}
	}
	slices.Sort(have)
	slices.Sort(lack)
	if len(lack) > 0 {
		return finding{what: "images", found: fmt.Sprintf("not made yet: %v", lack), advice: "the next grade submit makes them, which takes about half a minute"}
	}
	return finding{what: "images", found: fmt.Sprint(have)}
}

func checkCgroup(version string) finding {
	switch version {
	case "v1", "v2":
		return finding{what: "cgroup", found: version + ": memory, CPU time and processes of a sandbox are limited and counted by the kernel"}
	}
	return finding{what: "cgroup", found: "version unknown: " + version, advice: "use an engine that limits resources with control groups", grave: true}
}

func checkCPUs() finding {
	n := runtime.NumCPU()
	f := finding{what: "CPUs", found: fmt.Sprint(n)}
	if n < 2 {
		f.advice = "with one CPU everything on this machine disturbs a measurement; grades stay fair, figures scatter"
	}
	return f
}

// How a machine's steadiness is looked at: the same work again and again. The
// bound is that of the control which every grading takes of itself.
const (
	noiseRounds = 40
	noiseRound  = 5 * time.Millisecond
	noiseBound  = 1.30
)

// checkNoise times rounds of equal work and compares a slow one with a fast one.
func checkNoise() finding {
	work := calibrate()
	times := make([]time.Duration, noiseRounds)
	for i := range times {
		started := time.Now()
		spin(work)
		times[i] = time.Since(started)
	}
	slices.Sort(times)
	spread := float64(times[noiseRounds*3/4]) / float64(times[noiseRounds/4])
	f := finding{what: "noise", found: fmt.Sprintf("equal work takes %.0f %% longer in a slow round than in a fast one", 100*(spread-1))}
	if spread > noiseBound {
		f.advice = "close other programs, or expect wide intervals; what stays unclear is decided for the submission"
	}
	return f
}

// calibrate finds how much work takes a round.
func calibrate() int {
	for n := 1 << 10; ; n *= 2 {
		started := time.Now()
		spin(n)
		if time.Since(started) >= noiseRound {
			return n
		}
	}
}

func spin(n int) {
	x := uint64(n) | 1
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	runtime.KeepAlive(x) // or the compiler leaves the work out
}
