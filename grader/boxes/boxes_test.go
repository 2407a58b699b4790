package boxes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
	"grade/sandbox/sandboxtest"
)

var spec = sandbox.Spec{Purpose: sandbox.Run, Memory: 1, Pids: 1, Scratch: 1}

// scripted is a sandbox in which every program ends well, unless a test says otherwise.
func scripted() *sandboxtest.Sandbox {
	return &sandboxtest.Sandbox{
		CPUs: []int{0, 1}, Script: map[string][]sandboxtest.Answer{"run": {{}}},
		Name: func(*sandboxtest.Box, sandbox.Request) string { return "run" },
	}
}

// lease runs both programs once.
func lease(t *testing.T, p *Pool, program string) *Lease {
	t.Helper()
	l := p.Lease(program, spec)
	if !l.Reference.Loaded() {
		l.Reference.Load([]byte("reference of " + program))
	}
	l.Submission.Load([]byte("submission"))
	require.NoError(t, l.Open(t.Context()))
	both(t, l)
	return l
}

// both runs a request in each box.
func both(t *testing.T, l *Lease) {
	t.Helper()
	for _, r := range []*Runner{l.Reference, l.Submission} {
		_, err := r.Run(t.Context(), sandbox.Request{})
		require.NoError(t, err)
	}
}

// A box in which a run was given up is in the middle of it, and serves no other grading.
func TestBoxOfAnEndedRun(t *testing.T) {
	s := scripted()
	l := lease(t, New(s, Config{}), "a")
	s.Script["run"] = []sandboxtest.Answer{{Takes: time.Hour}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := l.Reference.Run(ctx, sandbox.Request{})
	require.ErrorIs(t, err, context.Canceled)
	l.Release(nil)
	assert.Zero(t, s.Open())
}

// The box that has waited longest makes room for the ninth.
func TestIdlePool(t *testing.T) {
	s := scripted()
	p := New(s, Config{})
	for i := range maxIdle + 1 {
		lease(t, p, strconv.Itoa(i)).Release(nil)
	}
	assert.Equal(t, maxIdle, s.Open())
	boxes := len(s.Boxes())
	lease(t, p, "0").Release(nil)
	assert.Len(t, s.Boxes(), boxes+2, "the first has gone")
	lease(t, p, "2").Release(nil)
	assert.Len(t, s.Boxes(), boxes+3, "the third has not")
	assert.Equal(t, maxIdle, s.Open())
	p.Close()
	assert.Zero(t, s.Open())
	p.Close()
	for _, b := range s.Boxes() {
		assert.Equal(t, 1, b.Closed())
	}
}

// A reference's box waits for another grading only as it was: not pinned, not after an
// error, and not before it has run.
func TestRelease(t *testing.T) {
	for name, c := range map[string]struct {
		change func(l *Lease) error
		err    error
		waits  int
	}{
		"as it was":      {func(*Lease) error { return nil }, nil, 1},
		"pinned":         {func(l *Lease) error { return l.Pin(t.Context(), 1) }, nil, 0},
		"after an error": {func(*Lease) error { return nil }, errors.New("gone"), 0},
	} {
		s := scripted()
		p := New(s, Config{})
		l := lease(t, p, "a")
		require.NoError(t, c.change(l))
		l.Release(c.err)
		assert.Equal(t, c.waits, s.Open(), name)
		p.Close()
	}
	s := scripted()
	p := New(s, Config{})
	l := p.Lease("a", spec)
	require.NoError(t, l.Open(t.Context()))
	l.Release(nil)
	assert.Zero(t, s.Open(), "it has not run")
}

// The program travels to a box once, as one that can be executed; what a request would
// send along does not.
func TestRequest(t *testing.T) {
	s := scripted()
	l := lease(t, New(s, Config{}), "a")
	_, err := l.Submission.Run(t.Context(), sandbox.Request{Path: "other", Files: []sandbox.File{{Name: "x"}}, Env: []string{"A=1"}})
	require.NoError(t, err)
	for _, b := range s.Boxes() {
		for i, q := range b.Requests() {
			assert.Equal(t, programName, q.Path)
			if i > 0 {
				assert.Empty(t, q.Files)
				assert.Equal(t, []string{"A=1", "TMPDIR=/scratch"}, q.Env)
				continue
			}
			require.Len(t, q.Files, 1)
			assert.True(t, q.Files[0].Exec)
		}
	}
}

// A box that has gone when it is to be pinned is replaced by one that is pinned.
func TestPinGone(t *testing.T) {
	s := scripted()
	first := true
	s.Pinning = func(*sandboxtest.Box, int) error {
		if first {
			first = false
			return fmt.Errorf("pin: %w", sandbox.ErrGone)
		}
		return nil
	}
	l := lease(t, New(s, Config{}), "a")
	require.NoError(t, l.Pin(t.Context(), 1))
	require.Len(t, s.Boxes(), 3)
	assert.Equal(t, []int{1}, s.Boxes()[2].Pinned())
	both(t, l)
	assert.NotEmpty(t, s.Boxes()[2].Requests())
}

// A lock that cannot be had says which file is in the way.
func TestLockFaults(t *testing.T) {
	dir := t.TempDir()
	_, _, err := leaseOn(New(nil, Config{LockFile: filepath.Join(dir, "none", "lock")}), []int{0}, []int{0}).Reserve(t.Context(), false, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "lock for measuring")

	require.NoError(t, os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "lock")))
	_, _, err = leaseOn(New(nil, Config{LockFile: filepath.Join(dir, "lock")}), []int{0}, []int{0}).Reserve(t.Context(), false, nil)
	require.ErrorContains(t, err, "remove "+filepath.Join(dir, "lock"))

	_, err = leaseOn(New(nil, Config{}), []int{0}, []int{1}).Untimed()
	assert.ErrorContains(t, err, "share no CPU")
}

// What is let go of twice is not taken from another.
func TestLeaveTwice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	reserve := func() func() {
		_, release, err := leaseOn(New(nil, Config{LockFile: file}), []int{0}, []int{0}).Reserve(t.Context(), false, nil)
		require.NoError(t, err)
		return release
	}
	first := reserve()
	first()
	second := reserve()
	first()
	second()
	reserve()()
}

// What goes wrong with a box once, or twice, goes wrong with no grading: another box is
// opened, for a build as for a run.
func TestAnotherBox(t *testing.T) {
	for _, failure := range []error{sandbox.ErrGone, sandbox.ErrFailed} {
		bad, good := sandboxtest.Answer{Err: failure}, sandboxtest.Answer{Outcome: sandbox.Outcome{Wall: 1}}
		for name, c := range map[string]struct {
			answers []sandboxtest.Answer
			boxes   int
			fails   bool
		}{
			"once":  {[]sandboxtest.Answer{bad, good}, 2, false},
			"twice": {[]sandboxtest.Answer{bad, bad, good}, 3, false},
			"ever":  {[]sandboxtest.Answer{bad}, boxesPerRequest, true},
		} {
			s := scripted()
			s.Script["run"] = c.answers
			var told []sandbox.Box
			o, err := New(s, Config{}).Build(t.Context(), spec, func(sandbox.Dirs) sandbox.Request { return sandbox.Request{} }, func(b sandbox.Box) { told = append(told, b) })
			assert.Equal(t, c.fails, errors.Is(err, failure), name)
			assert.Equal(t, !c.fails, o.Wall == 1, name)
			assert.Len(t, s.Boxes(), c.boxes, name)
			assert.Len(t, told, 1, name)
			assert.Equal(t, 1, s.Open(), "the first is the caller's to close")

			s = scripted()
			s.Script["run"] = c.answers
			r := New(s, Config{}).runner(spec)
			r.Load([]byte("program"))
			require.NoError(t, r.open(t.Context()))
			o, err = r.Run(t.Context(), sandbox.Request{})
			switch {
			case !c.fails:
				require.NoError(t, err, name)
				assert.Equal(t, 1, int(o.Wall), name)
			case errors.Is(failure, sandbox.ErrGone):
				require.NoError(t, err, "the program has done it")
				assert.NotZero(t, o.Signal)
			default:
				require.ErrorIs(t, err, failure, "no program is blamed")
			}
		}
	}
}

// A program is blamed only if every box has ended over it, and none has failed.
func TestBlame(t *testing.T) {
	gone, failed := sandboxtest.Answer{Err: sandbox.ErrGone}, sandboxtest.Answer{Err: sandbox.ErrFailed}
	silent := sandboxtest.Answer{Err: errors.Join(sandbox.ErrGone, sandbox.ErrFailed)} // no answer came, which both say
	for name, c := range map[string]struct {
		answers []sandboxtest.Answer
		blamed  bool
	}{
		"three have ended":          {[]sandboxtest.Answer{gone, gone, gone}, true},
		"the first failed":          {[]sandboxtest.Answer{failed, gone, gone}, false},
		"the second failed":         {[]sandboxtest.Answer{gone, failed, gone}, false},
		"the last failed":           {[]sandboxtest.Answer{gone, gone, failed}, false},
		"the last answered nothing": {[]sandboxtest.Answer{gone, gone, silent}, false},
	} {
		s := scripted()
		s.Script["run"] = c.answers
		o, err := running(t, s).Run(t.Context(), sandbox.Request{})
		assert.Equal(t, c.blamed, o.Signal != 0, name)
		assert.Equal(t, !c.blamed, errors.Is(err, sandbox.ErrFailed), name)
	}
}

// A program that something outside of its box may have killed runs again in another box, and what
// it does there counts. One that does it to itself gets no box for each of its runs.
func TestKilledFromOutside(t *testing.T) {
	killed := func(signal syscall.Signal, o sandbox.Outcome) sandbox.Outcome {
		o.Signal, o.Wall = int(signal), time.Second
		return o
	}
	well := sandbox.Outcome{Wall: time.Minute}
	for name, c := range map[string]struct {
		first sandbox.Outcome
		again bool
	}{
		"a daemon that kills":             {killed(syscall.SIGKILL, sandbox.Outcome{CPU: 1}), true},
		"one that asks first":             {killed(syscall.SIGTERM, sandbox.Outcome{CPU: 1}), true},
		"the kernel, and the whole box":   {killed(syscall.SIGKILL, sandbox.Outcome{Cause: sandbox.CauseMemory, OOMKills: 1}), true},
		"the kernel, and the program":     {killed(syscall.SIGKILL, sandbox.Outcome{CPU: 1, OOMKills: 1}), false},
		"the sandbox, for its memory":     {killed(syscall.SIGKILL, sandbox.Outcome{CPU: 1, OOMKills: 1, Cause: sandbox.CauseMemory}), false},
		"the sandbox, for its time":       {killed(syscall.SIGKILL, sandbox.Outcome{CPU: 1, Cause: sandbox.CauseWall}), false},
		"a fault of the program's memory": {killed(syscall.SIGSEGV, sandbox.Outcome{CPU: 1}), false},
		"a status":                        {sandbox.Outcome{ExitCode: 2, Wall: time.Second}, false},
	} {
		s := scripted()
		s.Script["run"] = []sandboxtest.Answer{{Outcome: c.first}, {Outcome: well}}
		r := running(t, s)
		o, err := r.Run(t.Context(), sandbox.Request{})
		require.NoError(t, err, name)
		assert.Equal(t, c.again, o.Wall == well.Wall, name)
		assert.Equal(t, c.again, len(s.Boxes()) == 2, name)
		assert.Equal(t, 1, s.Open(), name)
	}

	s := scripted()
	s.Script["run"] = []sandboxtest.Answer{{Outcome: killed(syscall.SIGKILL, sandbox.Outcome{CPU: 1})}}
	r := running(t, s)
	for range 5 {
		o, err := r.Run(t.Context(), sandbox.Request{})
		require.NoError(t, err)
		assert.NotZero(t, o.Signal)
	}
	assert.Len(t, s.Boxes(), 1+repeatsOfKills)

	kept := &idlePool{} // the reference's, which serves another grading
	kept.put("program", r)
	_, err := kept.take("program").Run(t.Context(), sandbox.Request{})
	require.NoError(t, err)
	assert.Len(t, s.Boxes(), 2+repeatsOfKills)

	s = scripted()
	s.Script["run"] = []sandboxtest.Answer{{Outcome: killed(syscall.SIGKILL, sandbox.Outcome{CPU: 1})}, {Outcome: well}}
	s.Opening = func(n int, _ sandbox.Spec) error {
		if n > 1 {
			return sandbox.ErrFailed
		}
		return nil
	}
	_, err = running(t, s).Run(t.Context(), sandbox.Request{})
	assert.ErrorIs(t, err, sandbox.ErrFailed, "without another box it is unknown who has killed it")
}

// running is a runner with a program in its box.
func running(t *testing.T, s *sandboxtest.Sandbox) *Runner {
	r := New(s, Config{}).runner(spec)
	r.Load([]byte("program"))
	require.NoError(t, r.open(t.Context()))
	return r
}

// A box that is gone again when it is to be pinned is replaced again.
func TestPinGoneTwice(t *testing.T) {
	s := scripted()
	gone := 0
	s.Pinning = func(*sandboxtest.Box, int) error {
		if gone++; gone < 3 {
			return fmt.Errorf("pin: %w", sandbox.ErrGone)
		}
		return nil
	}
	l := lease(t, New(s, Config{}), "a")
	require.NoError(t, l.Submission.pin(t.Context(), 1))
	assert.Len(t, s.Boxes(), 4)
	assert.Equal(t, 2, s.Open())
}

// What the engine takes is not the program's: of a pause, of a box that fails and of one that
// is opened in its place only so much counts as such things take.
func TestSpent(t *testing.T) {
	for name, c := range map[string]struct {
		answers []sandboxtest.Answer
		want    time.Duration
	}{
		"a run":                     {[]sandboxtest.Answer{{Takes: 7 * time.Second}}, 7 * time.Second},
		"a box wiped":               {[]sandboxtest.Answer{{Takes: time.Second, Pauses: 2 * time.Second}}, 3 * time.Second},
		"an engine that pauses":     {[]sandboxtest.Answer{{Takes: time.Second, Pauses: time.Minute}}, time.Second + besides},
		"a box that fails":          {[]sandboxtest.Answer{{Takes: time.Minute, Err: sandbox.ErrFailed}, {Takes: time.Second}}, time.Second},
		"a program that ends it":    {[]sandboxtest.Answer{{Takes: 3 * time.Second, Err: sandbox.ErrGone}, {Takes: time.Second}}, 4 * time.Second},
		"a silence, and it is gone": {[]sandboxtest.Answer{{Takes: time.Hour, Err: sandbox.ErrGone}, {Takes: time.Second}}, 20*time.Second + besides + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := scripted()
				s.Script["run"] = c.answers
				r := New(s, Config{}).runner(spec)
				r.Load([]byte("program"))
				require.NoError(t, r.open(t.Context()))
				_, err := r.Run(t.Context(), sandbox.Request{Limits: sandbox.Limits{Wall: 20 * time.Second}})
				require.NoError(t, err)
				assert.Equal(t, c.want, r.Spent())
			})
		})
	}
}
