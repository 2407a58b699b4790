package docker

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade"
	"grade/sandbox/conformance"
)

const helperVariable = "GRADE_TEST_HELPER"

// helper acts as a grade with a container: it prints the container's id, and waits.
func helper(what string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	e, err := Open(ctx, Config{Sources: grade.Sources})
	if err != nil {
		return err
	}
	switch what {
	case "box": // with a program in it that would run on
		b, err := e.Box(ctx, conformance.Spec())
		if err != nil {
			return err
		}
		file, err := conformance.Program(e.arch, "wait")
		if err != nil {
			return err
		}
		q := conformance.Request("wait", "deaf")
		q.Files = append(q.Files, file)
		go b.Run(ctx, q)
		time.Sleep(500 * time.Millisecond)
		fmt.Println(b.(*box).id)
	case "created": // and never started
		if err := e.Prepare(ctx, conformance.Spec().Purpose); err != nil {
			return err
		}
		config, host := e.hardened(conformance.Spec())
		created, err := e.client.ContainerCreate(ctx, config, host, nil, nil, "")
		if err != nil {
			return err
		}
		fmt.Println(created.ID)
	}
	time.Sleep(time.Minute)
	return nil
}

// killedHelper starts a helper, kills it and returns its container's id.
func killedHelper(t *testing.T, what string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), helperVariable+"="+what)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	killed := cmd.Process.Kill()
	_ = cmd.Wait()
	require.NoError(t, err)
	require.NoError(t, killed)
	return strings.TrimSpace(line)
}

// state returns the state of a container, or "" if there is no such container.
func state(t *testing.T, e *Engine, id string) string {
	t.Helper()
	c, err := e.client.ContainerInspect(t.Context(), id)
	if errdefs.IsNotFound(err) {
		return ""
	}
	require.NoError(t, err)
	return c.State.Status
}

// Killing grade leaves nothing running, even if a program ignores all signals that
// it can.
func TestKilledOwnerLeavesNothing(t *testing.T) {
	e := engine(t)
	id := killedHelper(t, "box")
	assert.Eventually(t, func() bool { return state(t, e, id) == "" }, time.Minute, 100*time.Millisecond, "still %s", state(t, e, id))
}

// The next grade removes a container that a killed grade created and never started,
// and leaves the containers of living ones alone. Another grade beside this test may be the next.
func TestOrphansAreSwept(t *testing.T) {
	e := engine(t)
	mine := open(t, e, conformance.Spec())
	id := killedHelper(t, "created")
	require.Contains(t, []string{"created", "removing", ""}, state(t, e, id))
	next := engine(t)
	assert.Eventually(t, func() bool { return state(t, next, id) == "" }, time.Minute, 100*time.Millisecond)
	assert.Equal(t, "running", state(t, next, mine.id))
}

func TestCloseRemovesContainers(t *testing.T) {
	e := engine(t)
	s := suite(t, e)
	for range 2 {
		b := open(t, e, conformance.Spec())
		s.Run(t, b, conformance.Request("end", "exit", "0"))
		require.NoError(t, b.Close())
	}
	e.settle()
	assert.Empty(t, containers(t, e))
}

// A process that leaves does not wait for its containers, which go all the same: here the
// forced removal is not even asked for.
func TestLeftContainersAreRemoved(t *testing.T) {
	e := engine(t)
	b := open(t, e, conformance.Spec())
	b.conn.Close()
	require.NoError(t, e.Leave())
	other := engine(t)
	assert.Eventually(t, func() bool { return state(t, other, b.id) == "" }, time.Minute, 10*time.Millisecond)
}

// An interrupt at any stage of making a box leaves no container.
func TestInterruptedBoxLeavesNothing(t *testing.T) {
	e := engine(t)
	require.NoError(t, e.Prepare(t.Context(), conformance.Spec().Purpose))
	for after := time.Duration(0); after < 400*time.Millisecond; after += 40 * time.Millisecond {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		b, err := e.Box(ctx, conformance.Spec())
		cancel()
		if err == nil {
			b.Close()
		}
	}
	e.settle()
	assert.Empty(t, containers(t, e))
}

func TestOrphaned(t *testing.T) {
	me, err := owner()
	require.NoError(t, err)
	boot, err := bootID()
	require.NoError(t, err)
	start, err := startTime(os.Getpid())
	require.NoError(t, err)
	old, young := time.Now().Add(-2*strayAge), time.Now()
	for _, c := range []struct {
		name, label string
		created     time.Time
		want        bool
	}{
		{"this process", me, old, false},
		{"a dead process", fmt.Sprintf("%s %d %s", boot, 1<<22+1, start), young, true},
		{"another process with the same number", fmt.Sprintf("%s %d %s0", boot, os.Getpid(), start), young, true},
		{"another boot, just now", "other 1 1", young, false},
		{"another boot, long ago", "other 1 1", old, true},
		{"an unreadable owner, just now", "nonsense", young, false},
		{"an unreadable owner, long ago", "nonsense", old, true},
	} {
		assert.Equal(t, c.want, orphaned(c.label, boot, c.created, time.Now()), c.name)
	}
}
