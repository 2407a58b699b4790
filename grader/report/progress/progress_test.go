package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader"
	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

type watched struct {
	*Line
	screen bytes.Buffer
	time   time.Time
}

func watch(width int) *watched {
	w := &watched{time: time.Unix(1000, 0)}
	w.Line = New(terminal.Stream{Writer: &w.screen, Live: true, Width: width}, func() time.Time { return w.time })
	return w
}

// shown is what is left on the screen: lines, of which the last is the status line.
func (w *watched) shown() []string {
	lines := strings.Split(w.screen.String(), "\n")
	for i, l := range lines {
		_, last, found := cutLast(l, eraseLine)
		if found {
			lines[i] = last
		}
	}
	return lines
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func TestProgressShowsWhatGoesOn(t *testing.T) {
	w := watch(80)
	w.Event(grader.Event{Phase: "build"})
	w.Event(grader.Event{Phase: "start"})
	w.time = w.time.Add(1300 * time.Millisecond)
	w.tick()
	assert.Equal(t, []string{"⠙ building, starting the sandbox  1.3 s"}, w.shown())
	w.Event(grader.Event{Phase: "build", Done: true})
	assert.Equal(t, []string{"⠙ starting the sandbox  1.3 s"}, w.shown())
	w.Event(grader.Event{Phase: "start", Done: true})
	assert.Equal(t, []string{"⠙ grading  1.3 s"}, w.shown())
	w.Event(grader.Event{Phase: "tidy", Waiting: "almost done"})
	assert.Equal(t, []string{"⠙ tidy, almost done  1.3 s"}, w.shown())
}

func TestProgressKeepsALineForEachCheck(t *testing.T) {
	w := watch(80)
	w.Event(grader.Event{Phase: "test"})
	for i, v := range []verdict.Verdict{verdict.Passed, verdict.TimeLimit} {
		w.Event(grader.Event{Phase: "test", Decided: i + 1, Total: 9, Check: &verdict.CheckResult{Name: "TestOrder", Verdict: v, MaxPoints: 4}})
	}
	assert.Equal(t, []string{
		"✓ TestOrder                           0/4  passed",
		"✗ TestOrder                           0/4  time limit",
		"⠋ testing  2 of 9 checks  0.0 s",
	}, w.shown())
}

func TestProgressOfWorkBesideThePhases(t *testing.T) {
	w := watch(100)
	w.Work("copying the Go toolchain", 30, 120)
	assert.Equal(t, []string{"⠋ copying the Go toolchain ████············ 25 %  0.0 s"}, w.shown())
	w.Work("compiling the standard library", 0, 0)
	assert.Equal(t, []string{"⠋ compiling the standard library  0.0 s"}, w.shown())
	w.Work("copying the Go toolchain", 120, 120)
	assert.Equal(t, []string{"⠋ grading  0.0 s"}, w.shown())
}

func TestStatusFitsTheTerminal(t *testing.T) {
	w := watch(40)
	w.Event(grader.Event{Phase: "build", Waiting: strings.Repeat("long \x1b[2J", 50)})
	status := w.shown()[0]
	assert.Less(t, terminal.Width(status), 40, "the last column stays free: writing there may break the line")
	assert.NotContains(t, status, "\x1b")
}

func TestProgressLeavesNoTrace(t *testing.T) {
	w := watch(80)
	stop := w.Start()
	w.Event(grader.Event{Phase: "test"})
	require.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.frame > 0
	}, time.Minute, time.Millisecond)
	stop()
	before := w.screen.String()
	assert.Equal(t, []string{""}, w.shown())
	w.Event(grader.Event{Phase: "measure"})
	assert.Equal(t, before, w.screen.String(), "news that comes late is not shown")
}
