package main

import (
	"context"
	"flag"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/turn"
)

var stormGradings = flag.Int("gradings", 6, "how many gradings TestGradingsInAStorm makes; make storm")

// However busy others keep the engine, a grading ends with a verdict: never with a fault of
// ours.
func TestGradingsInAStorm(t *testing.T) {
	turn.Take(t)
	if testing.Short() {
		t.Skip("grades while others keep the engine busy")
	}
	c := engineClient(t)
	course, students, _ := class(t)
	right := students + "/ada/mean"
	grades(t, exitOK, "submit", right, "--course", course)
	calls := storm(t, c)
	var left, faults atomic.Int32
	left.Store(int32(*stormGradings))
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for left.Add(-1) >= 0 {
				var out, told strings.Builder
				if code := run(t.Context(), []string{"submit", right, "--course", course, "--only", "correctness"}, nil, &out, &told); code != exitOK {
					faults.Add(1)
					t.Errorf("exit status %d: %s", code, told.String())
				}
			}
		})
	}
	workers.Wait()
	assert.Zero(t, faults.Load(), "of %d gradings", *stormGradings)
	assert.Positive(t, calls.Load(), "the engine was busy")
	t.Logf("%d gradings beside %d containers of others", *stormGradings, calls.Load())
	nothingLeft(t, c)
}

// storm makes, starts and removes containers until the test ends, and counts them.
func storm(t *testing.T, c *client.Client) *atomic.Int32 {
	ctx, stop := context.WithCancel(t.Context())
	var made atomic.Int32
	var others sync.WaitGroup
	t.Cleanup(func() { stop(); others.Wait() })
	for range 3 {
		others.Go(func() {
			for ctx.Err() == nil {
				if another(ctx, c) == nil {
					made.Add(1)
				}
			}
		})
	}
	require.Eventually(t, func() bool { return made.Load() > 0 }, time.Minute, time.Millisecond, "others reach the engine")
	return &made
}

// another is what somebody else does with the engine: it looks at what is there, and makes,
// starts and removes a container of an image that is there.
func another(ctx context.Context, c *client.Client) error {
	ctx = context.WithoutCancel(ctx) // what is made is removed
	images, err := c.ImageList(ctx, image.ListOptions{})
	if err != nil {
		return err
	}
	for _, one := range images {
		if len(one.RepoTags) == 0 || !strings.HasPrefix(one.RepoTags[0], "grade") {
			continue
		}
		made, err := c.ContainerCreate(ctx, &container.Config{Image: one.ID, Cmd: []string{"/nothing"}}, &container.HostConfig{NetworkMode: "none"}, nil, nil, "")
		if err != nil {
			return err
		}
		_ = c.ContainerStart(ctx, made.ID, container.StartOptions{}) // it has no such program, which is an answer too
		return c.ContainerRemove(ctx, made.ID, container.RemoveOptions{Force: true})
	}
	return nil
}
