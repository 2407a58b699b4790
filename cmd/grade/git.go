package main

import (
	"context"
	"errors"
	"os/exec"
	"strings"
)

// git runs git in a folder of somebody's course. What git refuses is told in its own
// words.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, usage("give a revision of the course's repository, such as origin/main", "git: %s", strings.TrimSpace(string(exit.Stderr)))
	}
	return out, err
}
