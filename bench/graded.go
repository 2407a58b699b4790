package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"

	"grade/grader/verdict"
)

// graded is contender b: grade submit. It keeps the phases of every grading.
type graded struct {
	program, dir string
	whole        bool                        // with the race detector and the benchmarks
	settle       func(context.Context) error // after a round, untimed
	phases       []phases
}

// phases holds the times of the phases of one grading.
type phases struct {
	verdict.Phases
	wall time.Duration // of the whole command
}

func (g *graded) round(ctx context.Context) (time.Duration, error) {
	var out, said bytes.Buffer
	args := []string{"submit", g.dir, "--sandbox", "docker", "--json"}
	if !g.whole {
		args = append(args, "--only", "correctness")
	}
	cmd := exec.CommandContext(ctx, g.program, args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	started := time.Now()
	err := cmd.Run()
	wall := time.Since(started)
	if err != nil {
		return 0, fmt.Errorf("%v: %w: %s", cmd.Args, err, said.Bytes())
	}
	var r verdict.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return 0, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	if r.Sandbox.Kind != "docker" || r.Score != r.MaxScore || r.MaxScore == 0 {
		return 0, fmt.Errorf("%v: %d of %d points in the %s sandbox: nothing to compare", cmd.Args, r.Score, r.MaxScore, r.Sandbox.Kind)
	}
	g.phases = append(g.phases, phases{r.Phases, wall})
	return wall, g.settle(ctx)
}
