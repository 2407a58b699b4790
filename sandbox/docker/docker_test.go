package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade"
	"grade/grader/lang/golang"
	"grade/sandbox"
	"grade/sandbox/conformance"
)

// TestMain lets a test start this binary again, as a grade to be killed.
func TestMain(m *testing.M) {
	if what := os.Getenv(helperVariable); what != "" {
		if err := helper(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// engine opens the machine's engine until the test ends.
func engine(t *testing.T) *Engine {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, err := Open(ctx, Config{Sources: grade.Sources, Warm: golang.Warm(grade.Sources)})
	conformance.Need(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// suite returns the conformance suite for containers.
func suite(t *testing.T, e *Engine) conformance.Suite {
	return conformance.Suite{Arch: e.arch, Isolated: true, Open: func(t *testing.T, spec sandbox.Spec) sandbox.Box {
		t.Helper()
		return open(t, e, spec)
	}}
}

// open starts a container that lasts until the test ends.
func open(t *testing.T, e *Engine, spec sandbox.Spec) *box {
	t.Helper()
	b, err := e.Box(t.Context(), spec)
	require.NoError(t, err)
	t.Cleanup(func() { b.Close() })
	return b.(*box)
}

// containers lists the containers of this engine's owner, in any state.
func containers(t *testing.T, e *Engine) []string {
	t.Helper()
	list, err := e.client.ContainerList(t.Context(), container.ListOptions{
		All: true, Filters: filters.NewArgs(filters.Arg("label", OwnerLabel+"="+e.owner)),
	})
	require.NoError(t, err)
	var ids []string
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("short: tests the kernel's limits, and where the race detector slows them they tell nothing more")
	}
	conformance.Test(t, suite(t, engine(t)))
}

func TestInfo(t *testing.T) {
	e := engine(t)
	require.NoError(t, e.Prepare(t.Context(), sandbox.Run))
	info := e.Info()
	assert.Equal(t, "docker", info.Kind)
	assert.True(t, info.Official)
	assert.NotEmpty(t, info.Runtime)
	assert.Regexp(t, `^grade-run:[0-9a-f]{16}$`, info.Image)
	b := open(t, e, conformance.Spec())
	assert.Equal(t, info.Cgroup, b.client.Cgroup(), "the engine and the supervisor agree about the control group")
}

func TestUnknownRuntimeIsRefused(t *testing.T) {
	e, err := Open(t.Context(), Config{Sources: grade.Sources, Runtime: "no-such-runtime"})
	if err == nil {
		e.Close()
	}
	if errors.Is(err, sandbox.ErrUnavailable) {
		conformance.Need(t, err)
	}
	require.ErrorContains(t, err, `no runtime "no-such-runtime"`)
}

func TestNoEngineIsUnavailable(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix://"+t.TempDir()+"/docker.sock")
	_, err := Open(t.Context(), Config{Sources: grade.Sources})
	require.ErrorIs(t, err, sandbox.ErrUnavailable)
	require.ErrorContains(t, err, "docker.sock")
}

// A container that is killed from outside is an error, not an outcome.
func TestKilledContainerIsAnError(t *testing.T) {
	e := engine(t)
	s := suite(t, e)
	b := open(t, e, conformance.Spec())
	s.Run(t, b, conformance.Request("end", "exit", "0"))
	s.Place(t, b, "wait")
	time.AfterFunc(500*time.Millisecond, func() {
		_ = e.client.ContainerKill(context.WithoutCancel(t.Context()), b.id, "KILL")
	})
	q := conformance.Request("wait", "asleep")
	q.Limits.Wall = 2 * time.Minute
	start := time.Now()
	_, err := b.Run(t.Context(), q)
	require.ErrorIs(t, err, sandbox.ErrGone)
	assert.Less(t, time.Since(start), q.Limits.Wall, "the program would have slept for longer")
}

// The engine's events say that, and when, a container ran out of memory.
func TestOutOfMemoryEvent(t *testing.T) {
	e := engine(t)
	s := suite(t, e)
	spec := conformance.Spec()
	spec.Memory = 32 << 20
	b := open(t, e, spec)
	start := time.Now()
	assert.False(t, b.outOfMemory(t.Context(), start))
	o := s.Run(t, b, conformance.Request("grow", "memory"))
	require.Positive(t, o.OOMKills)
	assert.True(t, b.outOfMemory(t.Context(), start))
	time.Sleep(2100*time.Millisecond + max(0, -e.skew)) // the engine counts in seconds, and told its time before it had answered
	assert.False(t, b.outOfMemory(t.Context(), time.Now()))
	killed := b.killed(time.Second)
	assert.Equal(t, sandbox.CauseMemory, killed.Cause)
	assert.Equal(t, o.OOMSource, killed.OOMSource)
}
