package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// served is a real grade serve with the sample course, in this process.
type served struct {
	*testing.T
	data, address, link string // link lets the instructor in
	out                 *syncedBuffer
	stop                func()
}

// syncedBuffer is written by a command while a test reads it.
type syncedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncedBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncedBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// sampleCourse lays the sample course out as one folder, with people in it.
func sampleCourse(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "course-private"))))
	for name, text := range map[string]string{
		"grade.yaml": "title: Numbers for engineers\ntimezone: Europe/Berlin\nroster: roster.csv\nboard: true\ndefaults:\n  late: {deduct: 10, per: 24h}\nexercises:\n  mean: {due: 2099-11-24 23:59, weight: 1}\n  variance: {due: 2099-12-01 23:59, weight: 2}\n",
		"roster.csv": "Student,SIS Login ID,Role,Email\n\"Lovelace, Ada\",ada,,ada@example.org\nBo,bo,,\n\"Hopper, Grace\",grace,staff,\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// serveSample starts grade serve and returns when it has told its address.
func serveSample(t *testing.T, args ...string) *served {
	t.Helper()
	data, err := os.MkdirTemp("", "serve") // the path of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(data)) })
	return serveIn(t, sampleCourse(t), data, args...)
}

func serveIn(t *testing.T, course, data string, args ...string) *served {
	t.Helper()
	s := &served{T: t, data: data, out: &syncedBuffer{}}
	ctx, cancel := context.WithCancel(context.Background())
	log, ended := &syncedBuffer{}, make(chan int, 1)
	all := append([]string{"serve", "--course", course, "--data", data, "--listen", "127.0.0.1:0"}, args...)
	go func() { ended <- run(ctx, all, nil, s.out, log) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		<-ended
		if t.Failed() {
			t.Log(log.String())
		}
	})
	t.Cleanup(s.stop)
	require.Eventually(t, func() bool {
		s.address = addressIn(s.out.String())
		return s.address != "" && s.healthy()
	}, 5*time.Minute, 10*time.Millisecond, "%s", log)
	if found := regexp.MustCompile(`http\S+/enter/\S+`).FindString(s.out.String()); found != "" {
		s.link = found
	}
	return s
}

func addressIn(out string) string {
	if m := regexp.MustCompile(`(?m)^serving .* on (http\S+)$`).FindStringSubmatch(out); m != nil {
		return m[1]
	}
	return ""
}

func (s *served) healthy() bool {
	answer, err := http.Get(s.address + "/healthz")
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// invite returns the link of a person.
func (s *served) invite(login string, args ...string) string {
	s.Helper()
	var out, errs bytes.Buffer
	code := run(s.Context(), append([]string{"serve", "invite", login, "--data", s.data}, args...), nil, &out, &errs)
	require.Equal(s, exitOK, code, errs.String())
	return strings.Fields(out.String())[1]
}

// enter signs a person in, and returns their browser.
func (s *served) enter(link string) *http.Client {
	s.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(s, err)
	c := &http.Client{Jar: jar}
	answer, err := c.Post(link, "", nil)
	require.NoError(s, err)
	require.NoError(s, answer.Body.Close())
	require.Equal(s, http.StatusOK, answer.StatusCode)
	return c
}

// get reads a page.
func (s *served) get(c *http.Client, address string) string {
	s.Helper()
	answer, err := c.Get(s.address + address)
	require.NoError(s, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(s, err)
	require.Equal(s, http.StatusOK, answer.StatusCode, "%s: %s", address, text)
	return string(text)
}
