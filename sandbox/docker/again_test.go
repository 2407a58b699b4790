package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
	"grade/sandbox/conformance"
)

// A call is repeated until it succeeds, unless that cannot help.
func TestAgain(t *testing.T) {
	failure := errors.New("EOF")
	for name, c := range map[string]struct {
		errs  []error // in their order; the last one repeats
		calls int
		fails bool
	}{
		"at once":       {errs: []error{nil}, calls: 1},
		"the last time": {errs: []error{failure, failure, failure, nil}, calls: 4},
		"never":         {errs: []error{failure}, calls: 4, fails: true},
		"a wrong call":  {errs: []error{errdefs.ErrInvalidArgument, nil}, calls: 1, fails: true},
		"tried before":  {errs: []error{forGood{failure}, nil}, calls: 1, fails: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			err := again(t.Context(), func() error {
				calls++
				return c.errs[min(calls, len(c.errs))-1]
			})
			assert.Equal(t, c.fails, err != nil, name)
			assert.Equal(t, c.calls, calls, name)
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	err := again(ctx, func() error {
		cancel(errors.New("interrupted"))
		return failure
	})
	require.ErrorIs(t, err, failure)
	require.EqualError(t, again(ctx, func() error { return failure }), "interrupted")
}

// flaky stands between grade and the engine, and fails the first call of every kind.
type flaky struct {
	fail func(w http.ResponseWriter)
	next http.Handler

	mu   sync.Mutex
	seen map[string]bool
}

// what names a kind of call: the method, and the path without version and names.
func what(r *http.Request) string {
	path := regexp.MustCompile(`^/v[0-9.]+`).ReplaceAllString(r.URL.Path, "")
	path = regexp.MustCompile(`^/(containers|images|volumes)/(grade-[^/]+|[0-9a-f]{64}|sha256:[0-9a-f]+)`).ReplaceAllString(path, "/$1/X")
	return r.Method + " " + path
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	first := !f.seen[what(r)]
	f.seen[what(r)] = true
	f.mu.Unlock()
	if first {
		f.fail(w)
		return
	}
	f.next.ServeHTTP(w, r)
}

// throughFlaky has engines that are opened from now on talk to the real one through f.
func throughFlaky(t *testing.T, host string, fail func(http.ResponseWriter)) *flaky {
	t.Helper()
	socket, ok := strings.CutPrefix(host, "unix://")
	if !ok {
		t.Skip("the engine does not listen on a socket of this machine: ", host)
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "engine"})
	proxy.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	proxy.FlushInterval = -1
	f := &flaky{fail: fail, next: proxy, seen: map[string]bool{}}
	dir, err := os.MkdirTemp("", "grade-flaky-") // a socket's path has to be short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	require.NoError(t, err)
	server := &http.Server{Handler: f, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(dir, "s"))
	return f
}

// refusals are the ways in which a call fails.
var refusals = map[string]func(http.ResponseWriter){
	"an error of the engine's": func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"message":"cannot allocate memory"}`)
	},
	"a connection that is cut": func(w http.ResponseWriter) {
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			c.Close()
		}
	},
	"what another process removed": func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"no such image or container"}`)
	},
	"a conflict": func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"message":"another operation is in progress"}`)
	},
}

// An engine that fails the first call of every kind runs programs and moves them all the
// same, and keeps no container.
func TestEngineThatFailsOnce(t *testing.T) {
	real := engine(t)
	for _, p := range []sandbox.Purpose{sandbox.Build, sandbox.Run} {
		require.NoError(t, real.Prepare(t.Context(), p))
	}
	host := real.client.DaemonHost()
	for name, fail := range refusals {
		t.Run(name, func(t *testing.T) {
			f := throughFlaky(t, host, fail)
			e, err := Open(t.Context(), real.config)
			require.NoError(t, err)
			box, err := e.Box(t.Context(), conformance.Spec())
			require.NoError(t, err)
			if err := box.Pin(t.Context(), box.CPUs()[0]); err != nil {
				require.ErrorIs(t, err, sandbox.ErrGone, "then a runner opens another")
			}
			require.NoError(t, box.Close())
			e.settle()
			assert.Eventually(t, func() bool { return len(containers(t, e)) == 0 }, time.Minute, 50*time.Millisecond)
			for _, call := range []string{"GET /info", "GET /images/X/json", "POST /containers/create", "POST /containers/X/attach", "POST /containers/X/start", "POST /containers/X/update", "DELETE /containers/X"} {
				assert.True(t, f.saw(call), "%s failed once", call)
			}
			require.NoError(t, e.Close())
		})
	}
}

func (f *flaky) saw(call string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[call]
}
