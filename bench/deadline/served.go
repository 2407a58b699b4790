//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"grade/bench/class"
)

// served is a running `grade serve` of the built-in course, with data of its own.
type served struct {
	program, dir, address string
	staff                 *http.Client
	cmd                   *exec.Cmd
	ended                 chan error
}

var (
	serving = regexp.MustCompile(`serving .* on (http://\S+)`)
	signIn  = regexp.MustCompile(`sign in as instructor .*: (http://\S+)`)
)

// start starts a service and signs its instructor in.
func start(ctx context.Context, o options) (*served, error) {
	dir, err := os.MkdirTemp("", "deadline") // the path of a socket is short
	if err != nil {
		return nil, err
	}
	s := &served{program: o.program, dir: dir, ended: make(chan error, 1)}
	s.cmd = exec.CommandContext(ctx, o.program, "serve", "--data", s.data(), "--listen", "127.0.0.1:0", "--workers", strconv.Itoa(o.workers))
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	said, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	lines := bufio.NewScanner(said)
	s.address = find(lines, serving)
	link := find(lines, signIn)
	go func() {
		_, _ = io.Copy(io.Discard, said)
		s.ended <- s.cmd.Wait()
	}()
	if link == "" {
		return nil, errors.Join(errors.New("grade serve has not said where it serves"), s.stop())
	}
	s.staff, err = s.enter(link)
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// find reads lines until one matches, and returns what it found there.
func find(lines *bufio.Scanner, pattern *regexp.Regexp) string {
	for lines.Scan() {
		if m := pattern.FindStringSubmatch(lines.Text()); m != nil {
			return m[1]
		}
	}
	return ""
}

func (s *served) data() string { return filepath.Join(s.dir, "data") }

// stop ends the service and removes what it kept.
func (s *served) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	<-s.ended
	return os.RemoveAll(s.dir)
}

// command runs another command of grade beside the service.
func (s *served) command(ctx context.Context, env []string, args ...string) (string, error) {
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &said, append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, said.Bytes())
	}
	return out.String(), nil
}

// invite lets students in, and returns the browser of each.
func (s *served) invite(ctx context.Context, logins []string) (browsers map[string]*http.Client, err error) {
	out, err := s.command(ctx, nil, append([]string{"serve", "invite", "--role", "student", "--data", s.data()}, logins...)...)
	if err != nil {
		return nil, err
	}
	browsers = map[string]*http.Client{}
	for line := range strings.Lines(out) {
		login, link, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if browsers[login], err = s.enter(link); err != nil {
			return nil, fmt.Errorf("%s: %w", login, err)
		}
	}
	return browsers, nil
}

// enter uses a link to sign a browser in.
func (s *served) enter(link string) (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{Jar: jar}
	for {
		answer, err := browser.Post(link, "", nil)
		if err != nil {
			return nil, err
		}
		answer.Body.Close()
		switch answer.StatusCode {
		case http.StatusOK:
			return browser, nil
		case http.StatusTooManyRequests: // all of them come from one address
			time.Sleep(after(answer))
		default:
			return nil, fmt.Errorf("sign in: %s", answer.Status)
		}
	}
}

// after is how long an answer asks to wait.
func after(answer *http.Response) time.Duration {
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	return time.Duration(max(1, seconds)) * time.Second
}

// look opens a page and reads it.
func (s *served) look(ctx context.Context, browser *http.Client, page string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+page, nil)
	if err != nil {
		return err
	}
	answer, err := browser.Do(q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", page, answer.Status)
	}
	return nil
}

// prepare grades the reference of each exercise, which makes the images and compiles it.
func (s *served) prepare(ctx context.Context, all []class.Submission) error {
	for _, name := range class.Exercises(all) {
		if _, err := s.command(ctx, nil, "submit", "reference/"+name, "--quiet"); err != nil {
			return err
		}
	}
	return nil
}

// queue is what the page of the queue says.
type queue struct {
	Waiting   int   `json:"waiting"`
	Grading   int   `json:"grading"`
	NoVerdict []any `json:"no_verdict"`
}

// queue asks how many submissions wait, and how many are being graded.
func (s *served) queue(ctx context.Context) (q queue, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+"/course/queue", nil)
	if err != nil {
		return q, err
	}
	r.Header.Set("Accept", "application/json")
	answer, err := s.staff.Do(r)
	if err != nil {
		return q, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return q, fmt.Errorf("look at the queue: %s", answer.Status)
	}
	return q, json.NewDecoder(answer.Body).Decode(&q)
}

// resident is the memory of the service now, in MiB.
func (s *served) resident() float64 {
	p, err := procfs.NewProc(s.cmd.Process.Pid)
	if err != nil {
		return 0
	}
	stat, err := p.Stat()
	if err != nil {
		return 0
	}
	return float64(stat.ResidentMemory()) / (1 << 20)
}
