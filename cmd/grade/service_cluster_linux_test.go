package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

func init() { programs["natsnode"] = natsNode }

// natsNode is a server of a cluster: natsnode NAME DIR CLIENTS CLUSTER ROUTES.
func natsNode() {
	o := &server.Options{
		ServerName: os.Args[1], JetStream: true, StoreDir: os.Args[2], SyncAlways: true, NoSigs: true,
		Cluster: server.ClusterOpts{Name: "test"},
	}
	o.Host, o.Port = splitPort(os.Args[3])
	o.Cluster.Host, o.Cluster.Port = splitPort(os.Args[4])
	for r := range strings.SplitSeq(os.Args[5], ",") {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: r})
	}
	runNATS(o)
}

// runNATS runs a server until SIGTERM.
func runNATS(o *server.Options) {
	s, err := server.NewServer(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "natsnode:", err)
		os.Exit(125)
	}
	s.ConfigureLogger()
	s.Start()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	<-stop
	s.Shutdown()
	s.WaitForShutdown()
}

func splitPort(address string) (host string, port int) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, "natsnode:", err)
		os.Exit(125)
	}
	return a.IP.String(), a.Port
}

// child is a program that can be killed and started again.
type child struct {
	t    *testing.T
	name string
	args []string
	env  []string
	log  *syncedBuffer
	out  *syncedBuffer

	cmd   *exec.Cmd
	ended chan error
}

// newChild describes a program. It is started by start, and ends with the test at the
// latest.
func newChild(t *testing.T, name string, env []string, args ...string) *child {
	p := &child{t: t, name: name, args: args, env: env, log: &syncedBuffer{}, out: &syncedBuffer{}}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			lines := strings.Split(p.log.String(), "\n")
			t.Logf("the end of what %s has said:\n%s", name, strings.Join(lines[max(0, len(lines)-60):], "\n"))
		}
	})
	return p
}

func (p *child) start() {
	p.t.Helper()
	p.cmd = exec.Command(p.args[0], p.args[1:]...)
	p.cmd.Env = append(os.Environ(), p.env...)
	p.cmd.Stdout, p.cmd.Stderr = io.MultiWriter(p.out, p.log), p.log
	require.NoError(p.t, p.cmd.Start())
	ended := make(chan error, 1)
	p.ended = ended
	cmd := p.cmd
	go func() { ended <- cmd.Wait() }()
}

// kill is kill -9. A second call does nothing.
func (p *child) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
	<-p.ended
	p.cmd = nil
}

// terminate is SIGTERM; it returns the exit status.
func (p *child) terminate() int {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		p.t.Errorf("%s does not end within a minute of SIGTERM", p.name)
		_ = p.cmd.Process.Signal(syscall.SIGKILL)
		<-p.ended
	}
	code := p.cmd.ProcessState.ExitCode()
	p.cmd = nil
	return code
}

// reserved returns an address of this machine's loopback network that no other program
// uses: of 16 million hosts, one at random, and a port that is free there.
func reserved(t *testing.T) string {
	t.Helper()
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(256), 1+rand.IntN(250))
	l, err := net.Listen("tcp", host+":0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// cluster is three NATS servers, each a process with an address of its own.
type cluster struct {
	nodes   map[string]*child
	clients []string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{nodes: map[string]*child{}}
	routes := []string{reserved(t), reserved(t), reserved(t)}
	for i, route := range routes {
		name, at := fmt.Sprintf("n%d", i+1), reserved(t)
		c.clients = append(c.clients, at)
		c.nodes[name] = newChild(t, name, nil, "natsnode", name, filepath.Join(t.TempDir(), name), at, route, strings.Join(routes, ","))
		c.nodes[name].start()
	}
	led(t, c.url())
	return c
}

// url is where clients connect.
func (c *cluster) url() string { return "nats://" + strings.Join(c.clients, ",nats://") }

// led returns when the servers of a cluster have chosen their leader.
func led(t *testing.T, url string) {
	t.Helper()
	nc, err := nats.Connect(url, nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1))
	require.NoError(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	eventually(t, 10*time.Minute, "a leader", func() bool {
		_, err := js.AccountInfo(t.Context())
		return err == nil
	})
}

// untilKept does something that a service does for a student, and does it again when the
// answer is that it could not be kept: that it works again is the promise; how soon is the
// machine's, which has all other tests beside this one.
func untilKept(t *testing.T, what string, do func(context.Context) error) {
	t.Helper()
	eventually(t, 10*time.Minute, what, func() bool {
		err := do(t.Context())
		if err != nil {
			t.Log(what, err)
		}
		return err == nil
	})
}

// cable stands between a program and the first of some addresses that answers, and can be
// cut and mended.
type cable struct {
	listener net.Listener
	network  string
	to       []string

	mu    sync.Mutex
	state cableState
	open  chan struct{} // closed while the cable is whole
	conns map[net.Conn]bool
}

type cableState int

const (
	whole  cableState = iota
	silent            // nothing passes, and nobody is told
	gone              // connections end, and none can be made
)

// newCable lays a cable.
func newCable(t *testing.T, network, listen string, to ...string) *cable {
	t.Helper()
	l, err := net.Listen(network, listen)
	require.NoError(t, err)
	c := &cable{listener: l, network: network, to: to, open: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(c.open)
	t.Cleanup(func() {
		c.set(gone)
		_ = l.Close()
	})
	go c.serve()
	return c
}

func (c *cable) address() string { return c.listener.Addr().String() }

// set changes the state of the cable.
func (c *cable) set(state cableState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.state
	if c.state = state; state == silent && was != silent {
		c.open = make(chan struct{})
	}
	if state != silent && was == silent {
		close(c.open)
	}
	if state == gone {
		for conn := range c.conns {
			_ = conn.Close()
		}
		clear(c.conns)
	}
}

func (c *cable) serve() {
	for {
		a, err := c.listener.Accept()
		if err != nil {
			return
		}
		b, err := c.dial()
		c.mu.Lock()
		if err != nil || c.state == gone {
			_ = a.Close()
			if err == nil {
				_ = b.Close()
			}
			c.mu.Unlock()
			continue
		}
		c.conns[a], c.conns[b] = true, true
		c.mu.Unlock()
		go c.pass(a, b)
		go c.pass(b, a)
	}
}

// dial connects to the first address that answers.
func (c *cable) dial() (conn net.Conn, err error) {
	for _, to := range c.to {
		if conn, err = net.Dial(c.network, to); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// pass copies one direction. An end of input is passed on alone: the Docker engine's client
// closes one direction and goes on reading.
func (c *cable) pass(from, to net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		c.mu.Lock()
		open := c.open
		c.mu.Unlock()
		<-open
		if _, lost := to.Write(buf[:n]); lost != nil {
			return
		}
		if err != nil {
			if half, ok := to.(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			}
			return
		}
	}
}

// eventually waits for a condition; what says what is missing.
func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for !ok() {
		select {
		case <-ctx.Done():
			require.FailNow(t, "not within "+within.String()+": "+what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
