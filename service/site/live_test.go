package site

import (
	"bufio"
	"encoding/json"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/service"
)

// stream reads the news of an attempt in the background.
func (b *as) stream(address string) <-chan news {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), "GET", b.server.URL+address, nil)
	require.NoError(b, err)
	r.AddCookie(b.session)
	got, err := b.client.Do(r)
	require.NoError(b, err)
	require.Equal(b, http.StatusOK, got.StatusCode)
	all := make(chan news, 100)
	go func() {
		defer got.Body.Close()
		defer close(all)
		lines := bufio.NewScanner(got.Body)
		for lines.Scan() {
			var n news
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(data), &n) == nil {
				all <- n
			}
		}
	}()
	return all
}

// next waits for news of which something is true.
func (b *as) next(all <-chan news, true func(news) bool) news {
	b.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case n, ok := <-all:
			require.True(b, ok, "the stream has ended before")
			if true(n) {
				return n
			}
		case <-late:
			require.Fail(b, "no such news")
		}
	}
}

// A page that is open sees each step, one that comes late where things stand, and the
// stream ends with the verdict.
func TestStream(t *testing.T) {
	w := newWorld(t)
	ada, bo := w.signedIn("ada"), w.signedIn("bo")
	bo.handIn(gears, solution("in the way"))
	bo.next(bo.stream("/gears/attempts/1/events"), func(n news) bool { return n.Stage == service.Grading })
	ada.handIn(gears, solution("one"))
	first := ada.stream("/gears/attempts/1/events")
	assert.Equal(t, service.Waiting, (<-first).Stage)
	page := ada.get("/gears/attempts/1").body
	assert.Contains(t, page, `data-events="/gears/attempts/1/events"`)
	assert.Contains(t, page, `<noscript><meta http-equiv="refresh"`)
	w.letOne()
	for i := range 4 {
		n := ada.next(first, func(n news) bool { return n.Check != nil })
		assert.Equal(t, i+1, n.Event.Decided)
		assert.NotEmpty(t, n.Check.Verdict)
	}
	late := ada.stream("/gears/attempts/1/events")
	assert.Equal(t, service.Grading, (<-late).Stage, "where it stands")
	w.letOne()
	for _, all := range []<-chan news{first, late} {
		ada.next(all, func(n news) bool { return n.Stage == service.Graded })
		_, open := <-all
		assert.False(t, open, "nothing comes after the verdict")
	}
}

// A page of an attempt that is being graded sees its checks, whatever was handed in since.
func TestStreamOfAnEarlierAttempt(t *testing.T) {
	w := newWorld(t)
	ada := w.signedIn("ada")
	ada.handIn(gears, solution("one"))
	first := ada.stream("/gears/attempts/1/events")
	ada.next(first, func(n news) bool { return n.Check != nil && n.Event.Decided == 4 })
	ada.handIn(gears, solution("two"))
	late := ada.stream("/gears/attempts/1/events")
	for i := range 4 {
		assert.Equal(t, i+1, ada.next(late, func(n news) bool { return n.Check != nil }).Event.Decided)
	}
	w.letGo()
}

// noWorker is an engine of which no worker takes jobs.
type noWorker struct{ Engine }

func (noWorker) QueueBehind(int) service.Queue { return service.Queue{Wait: -1} }

// A student is told when no worker takes jobs.
func TestNoWorkerTakesJobs(t *testing.T) {
	const told = "no worker takes submissions at the moment"
	q := &request{Site: &Site{Config: Config{Engine: noWorker{}}}}
	assert.Contains(t, q.liveWords(service.Attempt{Stage: service.Waiting}), told)
	assert.NotContains(t, q.liveWords(service.Attempt{Stage: service.Grading}), told)
	w := newWorld(t)
	ada := w.signedIn("ada")
	ada.handIn(gears, solution("one"))
	ada.next(ada.stream("/gears/attempts/1/events"), func(n news) bool { return n.Stage == service.Grading })
	ada.handIn(gears, solution("two"))
	assert.NotContains(t, ada.get("/gears/attempts/2").body, told)
	assert.Contains(t, ada.get("/").body, `<span class="tag">waiting</span>`)
	w.letGo()
}

// Staff are told when a submission may get other points on one worker than on another.
func TestWorkersDiffer(t *testing.T) {
	one, other := service.WorkerState{Name: "a", Setup: "go1.26.0, runc, race checks"}, service.WorkerState{Name: "b", Setup: "go1.25.0, runc, race checks"}
	assert.True(t, service.Queue{Workers: []service.WorkerState{one, other}}.Differ())
	other.Why = "it is starting"
	assert.False(t, service.Queue{Workers: []service.WorkerState{one, other}}.Differ())
	w := newWorld(t)
	grace := w.signedIn("grace")
	require.Eventually(t, func() bool { return strings.Contains(grace.get("/course/queue").body, "go1.26.0, runc, race checks") }, time.Minute, 10*time.Millisecond)
	assert.NotContains(t, grace.get("/course/queue").body, "workers that take jobs differ")
}

// How long one waits is told by one's own place, on the page and in its news.
func TestWaitIsToldOfOnesPlace(t *testing.T) {
	w := newWorld(t)
	bo, ada, grace := w.signedIn("bo"), w.signedIn("ada"), w.signedIn("grace")
	bo.handIn(gears, solution("measured"))
	bo.next(bo.stream("/gears/attempts/1/events"), func(n news) bool { return n.Stage == service.Grading })
	w.letOne()
	w.graded("bo", 1)
	bo.handIn(gears, solution("in the way"))
	bo.next(bo.stream("/gears/attempts/2/events"), func(n news) bool { return n.Stage == service.Grading })
	ada.handIn(gears, solution("one"))
	grace.handIn(gears, solution("later"))
	said := "waiting: next in the queue; a worker takes it in about " + inAbout(w.engine.QueueBehind(0).Wait)
	assert.Contains(t, ada.get("/gears/attempts/1").body, said)
	assert.Equal(t, said, (<-ada.stream("/gears/attempts/1/events")).Words)
	assert.Equal(t, w.engine.QueueBehind(0).Wait.Seconds(), decode[attemptView](t, ada.json().get("/gears/attempts/1")).Wait, "not a newcomer's")
	w.letGo()
}

// A second hand-in takes the place of one that waits, whose page says so.
func TestReplaced(t *testing.T) {
	w := newWorld(t)
	bo := w.signedIn("bo")
	bo.handIn(gears, solution("in the way"))
	bo.next(bo.stream("/gears/attempts/1/events"), func(n news) bool { return n.Stage == service.Grading })
	ada := w.signedIn("ada")
	ada.handIn(gears, solution("one"))
	first := ada.stream("/gears/attempts/1/events")
	ada.next(first, func(n news) bool { return n.Stage == service.Waiting })
	ada.handIn(gears, solution("two"))
	ada.next(first, func(n news) bool { return n.Stage == service.Replaced })
	page := ada.get("/gears/attempts/1").body
	assert.Contains(t, page, "replaced by a later attempt")
	assert.Contains(t, page, `href="/gears/attempts/2">a later attempt`)
	w.letGo()
	w.graded("ada", 2)
	assert.Contains(t, ada.get("/gears").body, "Attempt 1")
}

// What was handed in in time is graded, whatever comes too late behind it.
func TestLateReplacesNothing(t *testing.T) {
	w := newWorld(t)
	bo, ada := w.signedIn("bo"), w.signedIn("ada").json()
	bo.handIn(gears, solution("in the way"))
	bo.next(bo.stream("/gears/attempts/1/events"), func(n news) bool { return n.Stage == service.Grading })
	w.course.Policy.Defaults.Due = w.clock().Add(time.Hour)
	ada.handIn(gears, solution("in time"))
	w.wait(2 * time.Hour)
	a := decode[attemptView](t, ada.handIn(gears, solution("too late")))
	assert.Contains(t, a.Notice, "and does not count")
	first, ok := w.engine.Attempt("ada", gears, 1)
	require.True(t, ok)
	assert.Equal(t, service.Waiting, first.Stage)
	w.letGo()
	w.graded("ada", 2)
	w.graded("ada", 1)
}

// One that a worker has is graded too, also if that one goes down: it has its turn after the
// late one, wherever the log is read anew.
func TestLateReplacesNothingThatIsGraded(t *testing.T) {
	w := newWorld(t)
	ada := w.signedIn("ada").json()
	w.course.Policy.Defaults.Due = w.clock().Add(time.Hour)
	ada.handIn(gears, solution("in time"))
	ada.next(ada.stream("/gears/attempts/1/events"), func(n news) bool { return n.Stage == service.Grading })
	w.wait(2 * time.Hour)
	ada.handIn(gears, solution("too late"))
	dir := t.TempDir()
	_, err := w.engine.Export(t.Context(), dir)
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(dir, "attempts.jsonl"))
	require.NoError(t, err)
	assert.Contains(t, string(data), `"beside":true`)
	w.letGo()
	w.graded("ada", 2)
	w.graded("ada", 1)
}

// A page that is open ends with its session.
func TestStreamEndsWithItsSession(t *testing.T) {
	w := newWorld(t)
	ada, grace := w.signedIn("ada"), w.signedIn("grace")
	ada.handIn(gears, solution("one"))
	others := grace.stream("/course/students/ada/gears/attempts/1/events")
	mine := ada.stream("/gears/attempts/1/events")
	<-mine
	<-others
	ada.post("/sign-out", nil)
	require.Eventually(t, func() bool {
		select {
		case _, open := <-mine:
			return !open
		default:
			return false
		}
	}, time.Minute, 10*time.Millisecond)
	w.letGo()
	grace.next(others, func(n news) bool { return n.Stage == service.Graded })
}

// A person has so many pages open, and no more.
func TestTooManyStreams(t *testing.T) {
	w := newWorld(t)
	ada := w.signedIn("ada")
	ada.handIn(gears, solution("one"))
	for range maxStreams {
		<-ada.stream("/gears/attempts/1/events")
	}
	assert.Equal(t, http.StatusTooManyRequests, ada.get("/gears/attempts/1/events").status)
	w.letGo()
}

// What one student asks for has the engine look at the work of one student.
func TestOneStudentIsLookedAt(t *testing.T) {
	w := newWorld(t)
	ada := w.signedIn("ada")
	ada.handIn(gears, solution("one"))
	for _, address := range []string{"/", "/gears", "/gears/attempts/1"} {
		require.Equal(t, http.StatusOK, ada.get(address).status)
	}
	assert.Zero(t, w.store.pending.Load())
	w.letGo()
}

// A fault of ours is told to staff in full, to the student as one, and is graded again when
// staff say so.
func TestNoVerdict(t *testing.T) {
	w := newWorld(t)
	w.bench.failing.Store(true)
	ada, grace := w.signedIn("ada"), w.signedIn("grace")
	ada.handIn(gears, solution("one"))
	ada.next(ada.stream("/gears/attempts/1/events"), func(n news) bool { return n.Stage == service.NoVerdict })
	page := ada.get("/gears/attempts/1").body
	assert.Contains(t, page, "no verdict yet: the grader failed, not your submission; ")
	assert.NotContains(t, page, "secret", "no folder of ours")
	assert.NotContains(t, ada.json().get("/gears/attempts/1").body, "secret")
	const address = "/course/students/ada/gears/attempts/1"
	assert.Contains(t, grace.get(address).body, "no space left on /secret/disk")
	assert.Contains(t, grace.get("/course/queue").body, address)
	w.bench.failing.Store(false)
	ada.handIn(gears, solution("two"))
	assert.Contains(t, grace.get("/course/queue").body, address, "a later attempt hides it not")
	w.letGo()
	assert.Equal(t, http.StatusSeeOther, grace.post(address+"/retry", nil).status)
	w.graded("ada", 1)
	assert.Equal(t, http.StatusConflict, grace.post(address+"/retry", nil).status)
}

// An attempt at an exercise that has left the course has no page, so none links to it.
func TestNoVerdictOfRemovedExercise(t *testing.T) {
	w := newWorld(t)
	w.bench.failing.Store(true)
	ada, grace := w.signedIn("ada"), w.signedIn("grace")
	ada.handIn(gears, solution("one"))
	ada.next(ada.stream("/gears/attempts/1/events"), func(n news) bool { return n.Stage == service.NoVerdict })
	const section = "Without a verdict" // the worker's row may still name the attempt
	assert.Contains(t, grace.get("/course/queue").body, section)
	w.course.Exercises, w.course.Chapters = nil, nil
	assert.NotContains(t, grace.get("/course/queue").body, section)
	assert.Contains(t, grace.json().get("/course/queue").body, `"no_verdict":[]`)
	w.letGo()
}

// Where only the first attempts count, one that had no verdict by a fault of ours is not graded
// after others have taken their places: its points would take the place of theirs.
func TestRetryPutsNoneOut(t *testing.T) {
	w := newWorld(t)
	w.course.Policy.Defaults.Attempts = 1
	w.bench.failing.Store(true)
	ada, grace := w.signedIn("ada"), w.signedIn("grace")
	ada.handIn(gears, solution("one"))
	ada.next(ada.stream("/gears/attempts/1/events"), func(n news) bool { return n.Stage == service.NoVerdict })
	w.bench.failing.Store(false)
	ada.handIn(gears, solution("two"))
	w.letGo()
	w.graded("ada", 2)
	const retry = "/course/students/ada/gears/attempts/1/retry"
	refused := grace.post(retry, nil)
	assert.Equal(t, http.StatusConflict, refused.status)
	assert.Contains(t, refused.body, "the course counts only the first attempt, and one that was handed in after this one has its place")
	w.course.Policy.Defaults.Attempts = 2
	assert.Equal(t, http.StatusSeeOther, grace.post(retry, nil).status)
	w.graded("ada", 1)
}

// What staff hand in to try the course is in no gradebook.
func TestStaffAreNotInTheGradebook(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	grace := w.signedIn("grace")
	grace.handIn(gears, solution("tried"))
	w.graded("grace", 1)
	w.signedIn("ada").handIn(gears, solution("one"))
	w.graded("ada", 1)
	book := grace.get("/course/gradebook/csv").body
	assert.Contains(t, book, "ada")
	assert.NotContains(t, book, "grace")
}

// Exercises stand in their chapters. What is wrong with the course's files, staff see on
// every page, and no student on any.
func TestChaptersAndFaults(t *testing.T) {
	w := newWorld(t)
	ada, grace := w.signedIn("ada"), w.signedIn("grace")
	home := ada.get("/").body
	assert.Contains(t, home, "<h2>Turning</h2>")
	assert.Contains(t, home, "easy, 1.5 hours")
	assert.Equal(t, "Turning", decode[homeView](t, ada.json().get("/")).Exercises[0].Chapter)

	const fault = "grade.yaml:3: unknown field <weigth>"
	w.course.Faults = []string{fault}
	for _, address := range []string{"/", "/course", "/course/queue"} {
		assert.Contains(t, grace.get(address).body, html.EscapeString(fault), address)
	}
	assert.NotContains(t, ada.get("/").body, "weigth")
}
