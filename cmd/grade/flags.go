package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// gradingFlags are the flags of all commands that grade many folders.
type gradingFlags struct {
	workers int
	json    bool
	quiet   bool
	sandbox sandboxFlags
}

func (f *gradingFlags) add(cmd *cobra.Command, workers int) {
	flags := cmd.Flags()
	flags.IntVar(&f.workers, "workers", workers, "grade so many at a time; what is measured has a CPU to itself")
	flags.BoolVar(&f.json, "json", false, "write the result as JSON")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	f.sandbox.addFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("workers", cobra.NoFileCompletions)
}

// batchWorkers is one more than the number of CPUs: while a grading waits for the engine,
// another one has its CPU.
func batchWorkers() int { return affordable(runtime.NumCPU()+1, machineMemory()) }

// cpuWorkers is the number of CPUs.
func cpuWorkers() int { return affordable(runtime.NumCPU(), machineMemory()) }

// gradingMemory is about what the boxes of a hostile submission may hold at the same time, by
// their limits: that of its program under the race detector, or of its build for it, 2.7 GiB,
// and that of its other program, 0.7 GiB, beside what the reference's takes.
const gradingMemory = 4 << 30

// affordable is how many of the workers a machine's memory bears, all of them with hostile
// submissions: where it has none left, the kernel ends a neighbour's program, whose grading
// has no verdict then. Memory 0 is unknown.
func affordable(workers int, memory uint64) int {
	if memory == 0 {
		return workers
	}
	return min(workers, max(1, int(memory/gradingMemory)))
}

// machineMemory is that of this machine; 0 where the kernel does not say it as Linux does.
func machineMemory() uint64 {
	var kib uint64
	data, _ := os.ReadFile("/proc/meminfo")
	_, _ = fmt.Sscanf(string(data), "MemTotal: %d kB", &kib)
	return kib << 10
}

// check refuses invalid flags before anything is read.
func (f *gradingFlags) check() error {
	if f.workers < 1 {
		return usage("", "--workers %d: want at least 1", f.workers)
	}
	return f.sandbox.check()
}

// checkFor refuses invalid flags of a command that grades students' work, and sandboxes in
// which that may not run.
func (f *gradingFlags) checkFor(command string) error {
	f.sandbox.Kind, f.sandbox.ReserveCPU = cmp.Or(f.sandbox.Kind, sandboxDocker), true
	if err := f.check(); err != nil {
		return err
	}
	if f.sandbox.Kind == sandboxDocker {
		return nil
	}
	return usage("check your own work with: grade submit --sandbox "+f.sandbox.Kind, "%s grades what others wrote, and the %s sandbox contains nothing hostile", command, f.sandbox.Kind)
}

// checkMany refuses invalid flags of a command that grades students' work and reports on
// it.
func checkMany(command string, grading *gradingFlags, reports *reportFlags) error {
	if err := errors.Join(grading.checkFor(command), reports.check()); err != nil {
		return err
	}
	if _, taken := reports.targets.OnStdout(); taken && grading.json {
		return usage("give the report a file", "--json and a report both go to standard output")
	}
	return nil
}

// The kinds of sandbox, and the values of --sandbox.
const (
	sandboxDocker  = "docker"
	sandboxProcess = "process"
)

var sandboxKinds = []string{sandboxDocker, sandboxProcess}

// sandboxFlags choose the sandbox.
type sandboxFlags struct {
	Kind       string // one of sandboxKinds; empty: docker, or process on a machine without
	BuildImage string // --build-image
	Runtime    string // --runtime
	ReserveCPU bool   // keep a CPU for measuring, if there are enough, while other gradings go on
	// Progress receives the progress of long work, such as an image being made. Total is 0
	// if it is not known.
	Progress func(what string, current, total int64)
}

func (s *sandboxFlags) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.Kind, "sandbox", "", "grade in a docker container or in a child process: `KIND` is "+strings.Join(sandboxKinds, " or "))
	f.StringVar(&s.BuildImage, "build-image", "", "compile in this Docker `IMAGE` with Go, not in one made of this machine's Go")
	f.StringVar(&s.Runtime, "runtime", "", "run containers with this OCI `RUNTIME`, such as runsc")
	_ = cmd.RegisterFlagCompletionFunc("sandbox", cobra.FixedCompletions(sandboxKinds, cobra.ShellCompDirectiveNoFileComp))
	for _, flag := range []string{"build-image", "runtime"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
}

// check refuses flags that contradict each other.
func (s *sandboxFlags) check() error {
	if s.Kind != "" && !slices.Contains(sandboxKinds, s.Kind) {
		return usage("", "--sandbox %s: want %s", s.Kind, strings.Join(sandboxKinds, " or "))
	}
	if s.Kind == sandboxProcess && (s.BuildImage != "" || s.Runtime != "") {
		return usage("", "--build-image and --runtime are for --sandbox docker")
	}
	return nil
}
