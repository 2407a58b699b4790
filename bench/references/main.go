// Command references compares each reference solution with alternatives. It runs the
// benchmarks in the references' folders, which are named
//
//	Benchmark<Workload>/<contender>
//	Benchmark<Workloads>/<workload>/<contender>
//
// with one contender called "reference", and prints for every workload the median
// time and memory of each contender as a ratio to the reference's. Contenders of a
// workload run one after the other in each of several processes, so that a machine
// that becomes slower slows all of them.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench-references:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("references", flag.ContinueOnError)
	rounds := flags.Int("n", 5, "number of rounds, each in a process of its own")
	bench := flags.String("bench", ".", "`pattern` of benchmarks, as for go test")
	least := flags.String("benchtime", "200ms", "time of each contender in a round, as for go test")
	if err := flags.Parse(args); err != nil {
		return err
	}
	packages, err := output(ctx, "go", "list", "./reference/...")
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(packages)) {
		var results results
		for i := range *rounds {
			fmt.Fprintf(os.Stderr, "%s: round %d of %d\n", name, i+1, *rounds)
			out, err := output(ctx, "go", "test", "-run=^$", "-bench="+*bench, "-benchmem", "-benchtime="+*least, name)
			if err != nil {
				return err
			}
			if err := results.read(bytes.NewReader(out)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if err := results.print(os.Stdout, name); err != nil {
			return err
		}
	}
	return nil
}

func output(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s%s", strings.Join(cmd.Args, " "), err, out, stderr.Bytes())
	}
	return out, nil
}
