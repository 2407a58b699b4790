// Package checkup looks at what a machine has for grading: the Go toolchain, the Docker
// engine with its images and control groups, CPUs, and how steady the clock is. It changes
// nothing. Each finding says what there is, and what to do where something is wrong.
package checkup

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"grade/sandbox/docker"
	"grade/sandbox/toolchain"
)

// Cause is what is wrong. The zero value is nothing.
type Cause string

// The values of Cause.
const (
	NoGo          Cause = "no Go"
	NoEngine      Cause = "no engine"      // it does not answer
	UnknownImages Cause = "unknown images" // the engine does not say which it has
	NoImages      Cause = "no images"      // some are not made yet
	NoLimits      Cause = "no limits"      // the engine does not limit resources
	OneCPU        Cause = "one CPU"
	Noisy         Cause = "noisy"
	NoRace        Cause = "no race detector"
)

// Finding is what one look has found.
type Finding struct {
	What   string // a word
	Found  string
	Cause  Cause  // empty: nothing is wrong
	Advice string // what to do; empty where that depends on how grade is used
	Grave  bool   // keeps grade from giving a grade that counts
}

// Go looks for a toolchain.
func Go(ctx context.Context) Finding {
	g, err := toolchain.Find(ctx)
	if err != nil {
		return Finding{What: "Go", Found: err.Error(), Advice: "put the go command on the path; grade compiles its own helpers with it", Grave: true, Cause: NoGo}
	}
	return Finding{What: "Go", Found: g.Version + " in " + g.Root}
}

// Races looks for what the race detector needs, where builds use an image or, if that is
// empty, this machine's toolchain.
func Races(buildImage string) Finding {
	const what = "races"
	if buildImage != "" {
		return Finding{What: what, Found: "the race detector cannot be had with " + buildImage + " for builds", Cause: NoRace,
			Advice: "grade with this machine's toolchain, or have the points of a check of kind race given"}
	}
	if !toolchain.HasCompiler() {
		return Finding{What: what, Found: "the race detector cannot be had: gcc is missing, which compiles a part of Go's runtime once", Cause: NoRace,
			Advice: "install gcc and the C library's headers; without them grade gives the points of a check of kind race, and says so"}
	}
	return Finding{What: what, Found: "the race detector can be had: gcc is here, and what it compiles is kept from the first grading that needs it"}
}

// Engine looks at the engine that open opens, and at all that depends on it.
func Engine(ctx context.Context, open func(context.Context) (*docker.Engine, error)) []Finding {
	e, err := open(ctx)
	if err != nil {
		return []Finding{{What: "engine", Found: err.Error(), Grave: true, Cause: NoEngine}}
	}
	defer e.Close()
	info := e.Info()
	return []Finding{
		{What: "engine", Found: fmt.Sprintf("Docker %s at %s, runtime %s, linux/%s", e.Version(), e.Host(), info.Runtime, info.GoArch)},
		images(ctx, e),
		cgroup(info.Cgroup, e.LimitsSwap()),
	}
}

func images(ctx context.Context, e *docker.Engine) Finding {
	all, err := e.Images(ctx)
	if err != nil {
		return Finding{What: "images", Found: err.Error(), Cause: UnknownImages, Grave: true}
	}
	var have, lack []string
	for name, there := range all {
		if there {
			have = append(have, name)
		} else {
			lack = append(lack, name)
		}
	}
	slices.Sort(have)
	slices.Sort(lack)
	if len(lack) > 0 {
		return Finding{What: "images", Found: fmt.Sprintf("not made yet: %v", lack), Cause: NoImages}
	}
	return Finding{What: "images", Found: fmt.Sprint(have)}
}

func cgroup(version string, limitsSwap bool) Finding {
	switch version {
	case "v1", "v2":
		f := Finding{What: "cgroup", Found: version + ": memory, CPU time and processes of a sandbox are limited and counted by the kernel"}
		if !limitsSwap {
			f.Found += ", but swap is not"
			f.Advice = "turn swap off (swapoff -a), or start the kernel with swapaccount=1: a program that is swapped out holds more memory than is seen"
		}
		return f
	}
	return Finding{What: "cgroup", Found: "version unknown: " + version, Advice: "use an engine that limits resources with control groups", Grave: true, Cause: NoLimits}
}

// CPUs counts them.
func CPUs() Finding {
	n := runtime.NumCPU()
	f := Finding{What: "CPUs", Found: fmt.Sprint(n)}
	if n < 2 {
		f.Cause = OneCPU
		f.Advice = "with one CPU everything on this machine disturbs a measurement; grades stay fair, figures scatter"
	}
	return f
}
