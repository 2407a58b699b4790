package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/turn"
)

const referenceDir = courseRoot + "/reference/autograd"

// noVerdictFor runs grade and makes sure that it blames no student.
func noVerdictFor(t *testing.T, args ...string) (told string) {
	t.Helper()
	var out, err bytes.Buffer
	assert.Equal(t, exitNoVerdict, run(t.Context(), append([]string{"submit"}, args...), nil, &out, &err), err.String())
	assert.Empty(t, out.String(), "no report")
	assert.Contains(t, err.String(), "no verdict")
	assert.Contains(t, err.String(), "hint: ")
	return err.String()
}

func TestEngineThatIsNotThere(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(t.TempDir(), "none.sock"))
	told := noVerdictFor(t, referenceDir)
	assert.Contains(t, told, "--sandbox process")
}

// An engine that goes away during a grading is no verdict, wherever that
// happens, and leaves no container behind once it is back.
func TestEngineThatGoesAway(t *testing.T) {
	turn.Take(t)
	real := engineClient(t)
	course := t.TempDir()
	planted{files: measured}.into(t, course)
	for _, test := range []struct {
		name, request string
		nth           int32
	}{
		{"before the first container", "/containers/create", 1},
		{"when a container starts", "/start", 1},
		{"when the last container starts", "/start", 3},
		{"between tests and measuring", "/update", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var seen atomic.Int32
			var own atomic.Bool
			newProxy(t, real.DaemonHost(), func(request string) (answer string, cut bool) {
				if strings.Contains(request, test.request) {
					seen.Add(1)
				}
				// Made, and not yet told of: what is looked for below was there.
				if strings.Contains(request, "/start") && len(ownContainers(t, real)) > 0 {
					own.Store(true)
				}
				return "", seen.Load() >= test.nth
			})
			noVerdictFor(t, "--course", course, filepath.Join(course, "reference", "clip"))
			assert.GreaterOrEqual(t, seen.Load(), test.nth, "the engine went away where it should")
			assert.Equal(t, test.request != "/containers/create", own.Load(), "containers of this process were seen")
			nothingLeft(t, real)
		})
	}
}

// An image that is deleted between being made and being used. The answer is the
// engine's own; to delete a real one would disturb tests that run beside this.
func TestImageThatIsDeleted(t *testing.T) {
	turn.Take(t)
	real := engineClient(t)
	newProxy(t, real.DaemonHost(), func(request string) (string, bool) {
		if !strings.Contains(request, "/containers/create") {
			return "", false
		}
		const body = `{"message":"No such image: grade-run:gone"}`
		return "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 43\r\n\r\n" + body, false
	})
	assert.Contains(t, noVerdictFor(t, referenceDir), "made anew")
	nothingLeft(t, real)
}

// An exercise whose own solution does not do is the exercise's fault.
func TestBrokenReference(t *testing.T) {
	turn.Take(t)
	t.Parallel()
	engineClient(t)
	for name, broken := range map[string]string{
		"does not compile": "package clip\n\nfunc broken() int { return nil }\n",
		"does not start":   "package clip\n\nfunc init() { panic(\"broken\") }\n",
	} {
		t.Run(name, func(t *testing.T) {
			course := t.TempDir()
			planted{files: map[string]string{"reference/clip/broken.go": broken}}.into(t, course)
			assert.Contains(t, noVerdictFor(t, "--course", course, filepath.Join(course, plantedAccepted)), "reference")
		})
	}
}

// engineClient is a connection past grade, to see what is left.
func engineClient(t *testing.T) *client.Client {
	t.Helper()
	openEngine(t)
	c, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// nothingLeft waits until nothing of this process's runs on the engine any more.
// What was made and never started goes when the next grade starts and finds its
// owner dead, which this process is not.
func nothingLeft(t *testing.T, c *client.Client) {
	t.Helper()
	left := func(still ...string) bool {
		return slices.ContainsFunc(ownContainers(t, c), func(one container.Summary) bool { return !slices.Contains(still, one.State) })
	}
	assert.Eventually(t, func() bool { return !left("created", "exited", "removing", "dead") }, time.Minute, 50*time.Millisecond, "something runs")
	assert.Eventually(t, func() bool { return !left("created") }, time.Minute, 50*time.Millisecond, "something that ran is left")
}

// ownContainers are the containers that this process is the owner of.
func ownContainers(t *testing.T, c *client.Client) []container.Summary {
	t.Helper()
	return containersOf(t, c, os.Getpid())
}

// containersOf are the containers that a process is the owner of.
func containersOf(t *testing.T, c *client.Client, pid int) (own []container.Summary) {
	t.Helper()
	list, err := c.ContainerList(t.Context(), container.ListOptions{All: true})
	require.NoError(t, err)
	for _, one := range list {
		if strings.Contains(one.Labels["grade.owner"], " "+strconv.Itoa(pid)+" ") {
			own = append(own, one)
		}
	}
	return own
}

// proxy stands between grade and the engine, and can go away.
type proxy struct {
	listener net.Listener
	engine   string

	mu     sync.Mutex
	conns  []net.Conn
	before func(request string) (answer string, cut bool)
}

// newProxy has grade talk through a proxy until the test ends.
func newProxy(t *testing.T, host string, before func(request string) (answer string, cut bool)) {
	t.Helper()
	engine, ok := strings.CutPrefix(host, "unix://")
	if !ok {
		t.Skip("the engine does not listen on a socket of this machine: ", host)
	}
	dir, err := os.MkdirTemp("", "grade-proxy-") // a socket's path has to be short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	require.NoError(t, err)
	p := &proxy{listener: l, engine: engine, before: before}
	t.Cleanup(p.goAway)
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(dir, "s"))
	go p.serve()
}

func (p *proxy) serve() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		e, err := net.Dial("unix", p.engine)
		if err != nil {
			c.Close()
			return
		}
		p.mu.Lock()
		p.conns = append(p.conns, c, e)
		p.mu.Unlock()
		go func() {
			_, _ = io.Copy(c, e)
			c.(*net.UnixConn).CloseWrite()
		}()
		go p.requests(c, e)
	}
}

// requests passes on what grade sends, looking at the start of each piece: the
// client writes a request's head in one.
func (p *proxy) requests(c, e net.Conn) {
	defer e.(*net.UnixConn).CloseWrite()
	buf := make([]byte, 64<<10)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		line, _, _ := strings.Cut(string(buf[:n]), "\r\n")
		answer, cut := "", false
		if strings.HasSuffix(line, " HTTP/1.1") {
			p.mu.Lock()
			answer, cut = p.before(line)
			p.mu.Unlock()
		}
		switch {
		case cut:
			p.goAway()
			return
		case answer != "":
			_, _ = io.WriteString(c, answer)
			return
		}
		if _, err := e.Write(buf[:n]); err != nil {
			return
		}
	}
}

// goAway is what a killed engine looks like.
func (p *proxy) goAway() {
	p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
}
