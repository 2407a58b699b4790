package boxes

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
	"grade/sandbox/sandboxtest"
)

// What the reference did in a test is not asked of it again, by no other lease either, and
// takes the same time; another program, another request and a measured run are.
func TestRecall(t *testing.T) {
	s := scripted()
	p := New(s, Config{})
	defer p.Close()
	ran := func() (n int) {
		for _, b := range s.Boxes() {
			n += len(b.Requests())
		}
		return n
	}
	test := sandbox.Request{Args: []string{"-test.run=^TestA$"}, Env: []string{"SEED=1"}}
	first := lease(t, p, "a")
	before, spent := ran(), first.Reference.Spent()
	o, err := first.Recall(t.Context(), test)
	require.NoError(t, err)
	assert.Equal(t, before+1, ran())
	took := first.Reference.Spent() - spent

	again := lease(t, p, "a")
	before, spent = ran(), again.Reference.Spent()
	known, err := again.Recall(t.Context(), test)
	require.NoError(t, err)
	assert.Equal(t, o, known)
	assert.Equal(t, before, ran(), "it was asked before")
	assert.Equal(t, took, again.Reference.Spent()-spent)
	for _, other := range []sandbox.Request{
		{Args: test.Args, Env: []string{"SEED=2"}},
		{Args: []string{"-test.run=^TestB$"}, Env: test.Env},
		{Args: test.Args, Env: test.Env, Limits: sandbox.Limits{CPU: time.Second}},
	} {
		before = ran()
		_, err = again.Recall(t.Context(), other)
		require.NoError(t, err)
		assert.Equal(t, before+1, ran(), "it is another request")
	}
	b := lease(t, p, "b")
	before = ran()
	_, err = b.Recall(t.Context(), test)
	require.NoError(t, err)
	_, err = b.Reference.Run(t.Context(), test)
	require.NoError(t, err)
	assert.Equal(t, before+2, ran(), "another program, and what is to be run")
}

// A run that the machine has spoilt is not kept.
func TestRecallOfAFailure(t *testing.T) {
	for name, o := range map[string]sandbox.Outcome{
		"status": {ExitCode: 2}, "signal": {Signal: int(syscall.SIGSEGV)}, "limit": {Cause: sandbox.CauseWall},
	} {
		s := scripted()
		s.Script["run"] = []sandboxtest.Answer{{}, {}, {Outcome: o}, {}} // both programs run once before
		p := New(s, Config{})
		l := lease(t, p, "a")
		got, err := l.Recall(t.Context(), sandbox.Request{})
		require.NoError(t, err)
		assert.Equal(t, o, got, name)
		got, err = l.Recall(t.Context(), sandbox.Request{})
		require.NoError(t, err)
		assert.Equal(t, sandbox.Outcome{}, got, name)
		p.Close()
	}
}

// The oldest outcomes make room.
func TestRecallMax(t *testing.T) {
	var k recalls
	large := recalled{outcome: sandbox.Outcome{Observations: make([]byte, recallMax/4)}}
	for i := range byte(6) {
		k.put([32]byte{i}, large)
		k.put([32]byte{i}, large) // again is no more
	}
	for i := range byte(6) {
		_, ok := k.get([32]byte{i})
		assert.Equal(t, i >= 2, ok, i)
	}
	assert.Len(t, k.order, len(k.known))
	assert.LessOrEqual(t, k.bytes, int64(recallMax))
}
