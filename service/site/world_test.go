package site

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/coursetest"
	"grade/grader"
	"grade/grader/gradebook"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/service"
	"grade/service/engine"
	"grade/service/people"
	"grade/service/worker"
)

// gears is the exercise of the tests, and the package of its submissions.
const gears = "gears"

// world is a service with a real engine in it, whose worker answers as a test says.
type world struct {
	*testing.T
	engine *engine.Engine
	site   *Site
	server *httptest.Server
	door   *people.Door
	course *Course
	bench  *scripted
	store  *countedStore

	mu  sync.Mutex
	now time.Time
}

// countedStore is a store that counts how often it was asked for all that is pending.
type countedStore struct {
	*engine.Store
	pending atomic.Int32
}

func (s *countedStore) Pending() []results.Pending {
	s.pending.Add(1)
	return s.Store.Pending()
}

// scripted is a bench that gives every submission the same result, once it is let go. Real
// gradings are tests of the command.
type scripted struct {
	release chan struct{}
	failing atomic.Bool // every grading, by a fault of ours
}

func (b *scripted) Grade(ctx context.Context, s *submission.Snapshot, e *course.Exercise, _ string, tell func(grader.Event)) (*verdict.Result, error) {
	tell(grader.Event{Phase: grader.Build})
	if b.failing.Load() {
		return nil, errors.New("no space left on /secret/disk")
	}
	r := resultOf(s, e)
	for i := range r.Checks {
		tell(grader.Event{Phase: grader.Test, Check: &r.Checks[i], Decided: i + 1, Total: len(r.Checks)})
	}
	select {
	case <-b.release:
		return r, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
func (b *scripted) Identity() string            { return "identity" }
func (b *scripted) Setup() string               { return "go1.26.0, runc, race checks" }
func (b *scripted) Check(context.Context) error { return nil }
func (b *scripted) Close() error                { return nil }

// resultOf passes all checks but the last, and says exact figures.
func resultOf(s *submission.Snapshot, e *course.Exercise) *verdict.Result {
	r := &verdict.Result{Schema: verdict.Schema, Exercise: e.Name, ExerciseHash: e.Hash, Verdict: verdict.Graded, MaxScore: 100, Problems: []verdict.Problem{}, Warnings: []string{}, Seed: strings.Repeat("0", 64),
		Started: time.Now().UTC(), Submission: verdict.Submission{Dir: s.Dir, Hash: s.Hash, Files: []string{}, Ignored: []string{}}, Sandbox: verdict.SandboxInfo{Kind: "docker", Official: true}}
	for i, c := range e.Checks {
		x := verdict.CheckResult{Name: c.Name, Kind: string(c.Kind), Verdict: verdict.Passed, Points: c.Points, MaxPoints: c.Points, Hint: c.Hint,
			Submission: verdict.Figures{CPUMs: 1.23456789, WallMs: 9.87654321, PeakBytes: 123456789, Runs: 1}}
		if i == len(e.Checks)-1 {
			x.Verdict, x.Points = verdict.WrongAnswer, 0
		}
		r.Score += x.Points
		r.Checks = append(r.Checks, x)
	}
	return r
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel() // most of a test is waiting
	w := &world{T: t, now: time.Now(), bench: &scripted{release: make(chan struct{})}}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	var err error
	w.engine, err = engine.Open(t.Context(), engine.Config{DataDir: t.TempDir(), Grader: "g", AckWait: 5 * time.Second, Beat: time.Second, Log: log})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.engine.Close()) })
	all, broken, err := w.engine.SetCourse(t.Context(), coursetest.FS(coursetest.Files()))
	require.NoError(t, err)
	require.Empty(t, broken)
	w.course = &Course{Policy: gradebook.NewPolicy([]string{gears}), Exercises: all, Chapters: []course.Chapter{{Title: "Turning", Entries: []course.Entry{{Name: gears, Difficulty: course.Easy, Hours: 1.5}}}}}
	w.course.Policy.Board = true
	w.work()
	w.open(log)
	return w
}

// work runs a worker until the test ends.
func (w *world) work() {
	jobs, err := w.engine.Jobs(w.Context(), "bench")
	require.NoError(w, err)
	one := worker.New(jobs, worker.Config{Slots: 1, Host: "bench", Beat: 50 * time.Millisecond, Pause: 10 * time.Millisecond, Tries: 1, Open: func(context.Context) (worker.Bench, error) { return w.bench, nil }})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- one.Run(ctx) }()
	w.Cleanup(func() {
		cancel()
		require.NoError(w, <-done)
	})
}

func (w *world) open(log *slog.Logger) {
	keep, err := w.engine.KV(w.Context(), "people")
	require.NoError(w, err)
	w.door, err = people.Open(w.Context(), keep, w.clock)
	require.NoError(w, err)
	w.door.SetRoster([]people.Person{
		{Login: "ada", Name: "Lovelace, Ada", Role: people.Student}, {Login: "bo", Name: "Bo", Role: people.Student},
		{Login: "grace", Name: "Hopper, Grace", Role: people.Staff}, {Login: "root", Name: "Root", Role: people.Admin},
	})
	decided, err := w.engine.KV(w.Context(), "site")
	require.NoError(w, err)
	w.server = httptest.NewUnstartedServer(nil)
	address := "http://" + w.server.Listener.Addr().String()
	w.store = &countedStore{Store: w.engine.Store()}
	w.site, err = New(Config{
		Engine: w.engine, Results: w.store, Door: w.door, Keep: decided, Course: func() *Course { return w.course },
		Address: address, Now: w.clock, Log: log, UploadTime: time.Minute, KeepAlive: 100 * time.Millisecond,
	})
	require.NoError(w, err)
	w.server.Config = Server(w.site.Handler(), log)
	w.server.Start()
	w.Cleanup(w.server.Close)
}

// clock goes on by itself as little as it can, so that limits depend on the test alone.
func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(time.Microsecond)
	return w.now
}

// wait sets the clock forward.
func (w *world) wait(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// letOne lets one grading end.
func (w *world) letOne() { w.bench.release <- struct{}{} }

// letGo lets all gradings end.
func (w *world) letGo() { close(w.bench.release) }

// graded waits until a student's attempt has a verdict.
func (w *world) graded(student string, number int) service.Attempt {
	w.Helper()
	var a service.Attempt
	require.Eventually(w, func() bool {
		list := w.engine.Attempts(student, gears)
		if len(list) < number {
			return false
		}
		a = list[number-1]
		return a.Stage == service.Graded
	}, time.Minute, 5*time.Millisecond)
	return a
}

// as is a browser or a command line of one person.
type as struct {
	*world
	client  *http.Client
	session *http.Cookie // nil: not signed in
	token   string
	accept  string
}

// nobody is a browser in which no person is signed in.
func (w *world) nobody() *as {
	return &as{world: w, client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, accept: "text/html"}
}

// signedIn is a browser of a person, who has used an invitation.
func (w *world) signedIn(login string) *as {
	w.Helper()
	b := w.nobody()
	answer := b.post("/enter/"+w.invitation(login), nil)
	require.Equal(w, http.StatusSeeOther, answer.status, answer.body)
	b.session = answer.cookie("grade-session")
	require.NotNil(w, b.session)
	return b
}

func (w *world) invitation(login string) string {
	w.Helper()
	secret, err := w.door.Invite(w.Context(), login)
	require.NoError(w, err)
	return secret
}

// json is the same person as a program.
func (b *as) json() *as {
	c := *b
	c.accept = "application/json"
	return &c
}

// answer is what came back.
type answer struct {
	status int
	body   string
	*http.Response
}

func (a answer) cookie(name string) *http.Cookie {
	for _, c := range a.Cookies() {
		if c.Name == name && c.MaxAge >= 0 {
			return c
		}
	}
	return nil
}

func (b *as) do(method, address, kind string, body io.Reader, headers ...string) answer {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.server.URL+address, body)
	require.NoError(b, err)
	r.Header.Set("Accept", b.accept)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if b.session != nil {
		r.AddCookie(b.session)
	}
	if b.token != "" {
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	got, err := b.client.Do(r)
	require.NoError(b, err, "%s %s", method, address)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	require.NoError(b, err)
	return answer{got.StatusCode, string(text), got}
}

func (b *as) get(address string) answer { b.Helper(); return b.do("GET", address, "", nil) }

func (b *as) post(address string, form url.Values) answer {
	b.Helper()
	return b.do("POST", address, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
}

// file is a part of an upload.
type file struct{ name, text string }

// handIn sends files as a browser does.
func (b *as) handIn(exercise string, files ...file) answer {
	b.Helper()
	body, kind := formOf(b.T, files...)
	return b.do("POST", "/"+exercise+"/attempts", kind, body)
}

func formOf(t *testing.T, files ...file) (body *bytes.Buffer, kind string) {
	t.Helper()
	body = &bytes.Buffer{}
	form := multipart.NewWriter(body)
	for _, f := range files {
		h := textproto.MIMEHeader{}
		h.Set("Content-Disposition", multipart.FileContentDisposition("files", f.name))
		part, err := form.CreatePart(h)
		require.NoError(t, err)
		_, err = io.WriteString(part, f.text)
		require.NoError(t, err)
	}
	require.NoError(t, form.Close())
	return body, form.FormDataContentType()
}

// solution is a submission that differs from others by a text.
func solution(text string) file { return file{"gears.go", "package gears\n\n// " + text + "\n"} }

// decode reads an answer in JSON.
func decode[T any](t *testing.T, a answer) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(a.body), &v), a.body)
	return v
}
