package site

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/batch"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/service"
)

// zipped returns an archive.
func zipped(t *testing.T, files ...file) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f.name)
		require.NoError(t, err)
		_, err = io.WriteString(w, f.text)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.String()
}

// What cannot be handed in is told with what to do, and uses up no attempt.
func TestBadUploads(t *testing.T) {
	w := newWorld(t)
	ada := w.signedIn("ada").json()
	good := solution("x").text
	many := make([]file, maxParts+1)
	for i := range many {
		many[i] = file{fmt.Sprintf("f%d.txt", i), ""}
	}
	for name, c := range map[string]struct {
		files  []file
		status int
		said   string
	}{
		"nothing":                 {nil, 422, "nothing was handed in"},
		"an empty Go file":        {[]file{{"gears.go", ""}}, 422, "no file has a package clause"},
		"prose":                   {[]file{{"gears.go", "Dear Sir or Madam,\n"}}, 422, "no file has a package clause"},
		"no Go file":              {[]file{{"notes.txt", "x"}}, 422, "no Go file"},
		"too large":               {[]file{{"gears.zip", strings.Repeat("x", maxUpload)}}, 413, "more than 16 MiB"},
		"a file too large":        {[]file{{"gears.go", good + strings.Repeat("// x\n", 60_000)}}, 422, "larger than 256 KiB"},
		"too many":                {many, 422, "more than 2000 files"},
		"not an archive":          {[]file{{"gears.zip", "no archive"}}, 422, "cannot be read"},
		"a name that leads out":   {[]file{{"../gears.go", good}}, 422, "leads out"},
		"an absolute name":        {[]file{{"/etc/gears.go", good}}, 422, "leads out"},
		"a backslash":             {[]file{{`a\gears.go`, good}}, 422, "leads out"},
		"an archive leads out":    {[]file{{"gears.zip", zipped(t, file{"../../gears.go", good})}}, 422, "outside of the archive"},
		"an archive and files":    {[]file{{"gears.zip", zipped(t, file{"gears.go", good})}, {"gears.go", good}}, 422, "either could be meant"},
		"twice the same name":     {[]file{{"gears.go", good}, {"gears.go", good}}, 422, "came twice"},
		"another package":         {[]file{{"a.go", "package wheels\n"}}, 422, "package wheels"},
		"assembly":                {[]file{{"gears.go", good}, {"a.s", "x"}}, 422, "assembly"},
		"a name that Go ignores":  {[]file{{"Gears.go", good}}, 422, "rename"},
		"a zip that is no folder": {[]file{{"gears.zip", zipped(t, file{"a/x.go", good}, file{"b/y.go", good})}}, 422, "side by side"},
	} {
		w.wait(time.Minute)
		got := ada.handIn(gears, c.files...)
		assert.Equal(t, c.status, got.status, "%s: %s", name, got.body)
		if got.status >= 400 {
			p := decode[Problem](t, got)
			assert.Contains(t, p.Detail, c.said, name)
			assert.NotEmpty(t, p.Advice, name)
		}
	}
	got := ada.handIn("wheels", solution("x"))
	assert.Equal(t, http.StatusNotFound, got.status)
	assert.Contains(t, got.body, "the course has: gears")
	assert.Equal(t, http.StatusUnsupportedMediaType, ada.post("/gears/attempts", url.Values{"text": {good}}).status)
	assert.Empty(t, w.engine.Attempts("ada", gears), "nothing of it is an attempt")
}

// Files, a folder, archives and a text are the same submission.
func TestGoodUploads(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	text := solution("x").text
	content := ""
	for name, files := range map[string][]file{
		"a file":                 {{"gears.go", text}},
		"a folder":               {{"mine/gears.go", text}, {"mine/old/gears.go", "x"}, {"mine/notes.txt", "y"}},
		"beside a test":          {{"gears.go", text}, {"gears_test.go", "package gears"}},
		"a zip":                  {{"Mine.ZIP", zipped(t, file{"gears.go", text})}},
		"a folder in a zip":      {{"mine.zip", zipped(t, file{"mine/gears.go", text})}},
		"a zip beside something": {{"mine.zip", zipped(t, file{"gears.go", text})}, {"notes.txt", "y"}},
	} {
		w.wait(time.Minute)
		b := w.signedIn("ada").json()
		got := b.handIn(gears, files...)
		require.Equal(t, http.StatusCreated, got.status, "%s: %s", name, got.body)
		a := w.engine.Attempts("ada", gears)
		require.Len(t, a, 1, name)
		if content == "" {
			content = a[0].Content
		}
		assert.Equal(t, content, a[0].Content, name)
	}
	body, kind := formOf(t)
	_ = body
	b := w.signedIn("ada").json()
	boundary := strings.TrimPrefix(kind, "multipart/form-data; boundary=")
	pasted := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\n" + strings.ReplaceAll(text, "\n", "\r\n") + "\r\n--" + boundary + "--\r\n"
	got := b.do("POST", "/gears/attempts", kind, strings.NewReader(pasted))
	require.Equal(t, http.StatusCreated, got.status, got.body)
	assert.Len(t, w.engine.Attempts("ada", gears), 1, "a text that is pasted is the file")
	long := strings.ReplaceAll(pasted, "// ", strings.Repeat("\r\n", submission.MaxFileSize)+"// ")
	got = b.do("POST", "/gears/attempts", kind, strings.NewReader(long))
	assert.Equal(t, http.StatusUnprocessableEntity, got.status)
	assert.Contains(t, got.body, "larger than 256 KiB", "and not cut off")
}

// beginsToSend begins an upload of a person, and does not end it.
func (b *as) beginsToSend() net.Conn {
	b.Helper()
	_, kind := formOf(b.T)
	conn, err := net.Dial("tcp", b.server.Listener.Addr().String())
	require.NoError(b, err)
	boundary := strings.TrimPrefix(kind, "multipart/form-data; boundary=")
	part := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"files\"; filename=\"gears.go\"\r\n\r\npackage"
	_, err = fmt.Fprintf(conn, "POST /gears/attempts HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nCookie: grade-session=%s\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", b.session.Value, kind, len(part), part)
	require.NoError(b, err)
	return conn
}

// A client that never ends its upload is cut off, and nothing of it is kept.
func TestEndlessUpload(t *testing.T) {
	w := newWorld(t)
	w.site.UploadTime = 5 * time.Second
	ada := w.signedIn("ada")
	for name, send := range map[string]func(net.Conn){
		"that stops": func(net.Conn) {},
		"that drips": func(c net.Conn) {
			for {
				if _, err := c.Write([]byte("1\r\nx\r\n")); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		},
	} {
		conn := ada.beginsToSend()
		go send(conn)
		got, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err, name)
		assert.Equal(t, http.StatusRequestTimeout, got.StatusCode, name)
		require.NoError(t, conn.Close())
	}
	assert.Empty(t, w.engine.Attempts("ada", gears))
}

// A person has no more than two uploads on their way, which are memory of the service, and
// takes nothing of others with it.
func TestUploadsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	ada, bo := w.signedIn("ada").json(), w.signedIn("bo").json()
	conns := []net.Conn{ada.beginsToSend(), ada.beginsToSend()}
	underWay := func(n int) func() bool {
		return func() bool {
			w.site.sending.mu.Lock()
			defer w.site.sending.mu.Unlock()
			return w.site.sending.going["ada"] == n
		}
	}
	require.Eventually(t, underWay(2), time.Minute, time.Millisecond)
	third := ada.handIn(gears, solution("x"))
	assert.Equal(t, http.StatusTooManyRequests, third.status)
	assert.Contains(t, third.body, "2 uploads of yours are still on their way")
	assert.Equal(t, http.StatusCreated, bo.handIn(gears, solution("x")).status)
	for _, c := range conns {
		require.NoError(t, c.Close())
	}
	require.Eventually(t, underWay(0), time.Minute, time.Millisecond)
	assert.Equal(t, http.StatusCreated, ada.handIn(gears, solution("x")).status)
}

// A regrade that holds is told to the student, with what it has changed.
func TestRegradeIsTold(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	ada := w.signedIn("ada").json()
	ada.handIn(gears, solution("one"))
	r := *w.graded("ada", 1).Record
	notice := func() string { return decode[attemptView](t, ada.get("/gears/attempts/1")).Notice }
	assert.Empty(t, notice())
	anew := func(key string, score int) {
		result := *r.Result
		result.Score = score
		r.Key, r.Result, r.Recorded = key, &result, time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
		require.NoError(t, w.engine.Store().Append(r))
	}
	was := r.Result.Score
	anew("another grader", was)
	assert.Equal(t, fmt.Sprintf("It was graded anew on 14 Mar 2026, because the exercise or the grader has changed: %d points as before.", was), notice())
	anew("a third", was-7)
	assert.Contains(t, notice(), fmt.Sprintf(": %d points now, %d before.", was-7, was))
}

// A regrade that nothing could run now is refused with the reason.
func TestRegradeWithoutASandbox(t *testing.T) {
	w := newWorld(t)
	w.site.Regrade = func() (batch.Options, error) {
		return batch.Options{}, errors.New("no sandbox answers on this machine")
	}
	got := w.signedIn("grace").json().post("/course/regrade", nil)
	assert.Equal(t, http.StatusServiceUnavailable, got.status)
	assert.Contains(t, got.body, "no sandbox answers on this machine")
}

// Of an attempt that came without its files, nothing is shown, and that is told.
func TestSourceThatWasNotKept(t *testing.T) {
	w := newWorld(t)
	ada := w.signedIn("ada").json()
	s := submission.Of("upload", []submission.File{{Name: "gears.go", Data: []byte("package gears\n")}})
	require.NoError(t, w.engine.Store().Append(results.Record{
		Key: "k", Student: "ada", Exercise: gears, Attempt: 1, Content: results.Content(s), Recorded: w.clock(), Result: resultOf(s, w.course.Exercises[0]),
	}))
	got := ada.get("/gears/attempts/1/source")
	assert.Equal(t, http.StatusNotFound, got.status, got.body)
	assert.Contains(t, got.body, "were not kept")
}

// Late work and attempts above the number that counts are taken, graded, and told.
func TestLateAndTooMany(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	ada := w.signedIn("ada").json()
	w.course.Policy.Defaults.Due = w.clock().Add(-time.Hour)
	a := decode[attemptView](t, ada.handIn(gears, solution("late")))
	assert.Contains(t, a.Notice, "60 min after it was due")
	assert.Contains(t, a.Notice, "does not count")
	w.course.Policy.Defaults.Late = &course.Late{Deduct: 10, Most: 100}
	w.graded("ada", 1)
	assert.Contains(t, decode[attemptView](t, ada.get("/gears/attempts/1")).Notice, "takes points off")
	grace := w.signedIn("grace")
	for _, exercise := range []string{gears, ""} {
		early := grace.json().post("/course/extensions", url.Values{"student": {"ada"}, "exercise": {exercise}, "due": {"2020-01-01T00:00"}})
		assert.Equal(t, http.StatusUnprocessableEntity, early.status)
		assert.Contains(t, early.body, "this is no extension: without it the work is due on ")
	}
	assert.Equal(t, http.StatusSeeOther, grace.post("/course/extensions", url.Values{"student": {"ADA"}, "exercise": {gears}, "due": {"2099-01-01T00:00"}}).status)
	v := decode[attemptView](t, ada.get("/gears/attempts/1"))
	assert.Empty(t, v.Notice, "extended")
	require.NotNil(t, v.Points)
	assert.EqualValues(t, 90, *v.Points)
	w.course.Policy.Defaults.Attempts = 1
	assert.Contains(t, decode[attemptView](t, ada.handIn(gears, solution("again"))).Notice, "The course counts only the first attempt, and this is attempt 2: ")
	assert.Equal(t, service.Graded, w.graded("ada", 2).Stage)
}

// Staff see on the queue's page why no submission is taken, and programs at /readyz that
// none is.
func TestQueueSaysWhyNothingIsTaken(t *testing.T) {
	w := newWorld(t)
	var full error
	w.site.Check("engine", func() error { return full })
	grace := w.signedIn("grace")
	assert.NotContains(t, grace.get("/course/queue").body, "No submission is taken")
	full = fmt.Errorf("%w: make room", service.ErrFull)
	assert.Contains(t, grace.get("/course/queue").body, "No submission is taken now: the disk of the service is full: make room.")
	assert.Equal(t, http.StatusServiceUnavailable, w.nobody().get("/readyz").status)
}

// Attempts that were replaced or have no verdict use up none of those that count.
func TestReplacedUseUpNothing(t *testing.T) {
	list := []service.Attempt{{Number: 1, Stage: service.Replaced}, {Number: 2, Stage: service.NoVerdict}, {Number: 3, Stage: service.Graded}, {Number: 4, Stage: service.Waiting}}
	assert.Equal(t, 1, nth(list, 3))
	assert.Equal(t, 2, nth(list, 4))
}
