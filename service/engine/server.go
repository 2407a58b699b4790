package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"grade/grader/fault"
	"grade/service"
)

// startTimeout bounds the start of the server in this process. It reads its files anew,
// which takes longer after a power cut.
const startTimeout = 2 * time.Minute

// maxPayload is the longest message: a result with all that an exercise may show is longer
// than the server's own default of 1 MiB allows.
const maxPayload = 8 << 20

// reserve is how much of its disk the server leaves free, in bytes, before submissions are
// refused: the results of those that wait, and the server's own files, still fit in. It is
// not left to the server, whose calls end in a timeout when the disk is full, and which then
// may stop for good.
const reserve = 128 << 20

// maxStore is more than any disk has: reserve is the limit. The server's own default is three
// quarters of what is free at its start, whatever room is made later.
const maxStore = 1 << 60

// embedded is a NATS server in this process.
type embedded struct {
	dir    string
	server *server.Server
	lock   *flock.Flock
	keys   *keys
}

// startServer starts a server whose files are in a folder. It syncs every write before it
// acknowledges it: the server's own default syncs every two minutes, and loses what it has
// acknowledged meanwhile when the power fails.
func startServer(c Config) (*embedded, error) {
	if c.DataDir == "" {
		return nil, &fault.Error{Message: "start the engine: no folder for its data", Advice: "give one: --data DIR"}
	}
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	e := &embedded{dir: c.DataDir, lock: flock.New(filepath.Join(c.DataDir, "lock"))}
	ok, err := e.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	if !ok {
		return nil, &fault.Error{Message: "start the engine: another grade serve uses " + c.DataDir, Advice: "stop it, or give another folder: --data DIR"}
	}
	if err := e.start(c); err != nil {
		return nil, errors.Join(fmt.Errorf("start the engine: %w", err), e.stop())
	}
	return e, nil
}

func (e *embedded) start(c Config) error {
	o := &server.Options{
		ServerName: "grade", JetStream: true, StoreDir: filepath.Join(c.DataDir, "nats"), SyncAlways: !c.noSync,
		DontListen: true, NoSigs: true, MaxPayload: maxPayload, JetStreamMaxMemory: 64 << 20, DisableJetStreamBanner: true,
		JetStreamMaxStore: maxStore,
		AuthTimeout:       startTimeout.Seconds(), // two seconds would be too few on a machine that grades
	}
	var err error
	if e.keys, err = openKeys(filepath.Join(c.DataDir, "keys")); err != nil {
		return err
	}
	if err := e.keys.guard(o, c.Course); err != nil {
		return err
	}
	if err := listen(c, o); err != nil {
		return err
	}
	if e.server, err = server.NewServer(o); err != nil {
		return err
	}
	said := serverLog{c.Log, make(chan string, 1)}
	e.server.SetLoggerV2(said, false, false, false)
	e.server.Start()
	return e.ready(said.fatal)
}

// ready waits until the server can be used. Where it cannot start, as when its port is taken
// or its folder cannot be written, it says so in its log alone, and goes on without.
func (e *embedded) ready(fatal <-chan string) error {
	for begun := time.Now(); time.Since(begun) < startTimeout && e.server.Running(); {
		ready := e.server.ReadyForConnections(100 * time.Millisecond)
		select {
		case why := <-fatal:
			return &fault.Error{Message: why, Advice: "free what it names, or give another folder or address"}
		default:
		}
		if ready {
			break
		}
	}
	if !e.keeps() {
		return errors.New("its part that keeps things has not started; its log says why")
	}
	return nil
}

// keeps reports whether the server keeps what it is given.
func (e *embedded) keeps() bool { return e.server.Running() && e.server.JetStreamEnabled() }

// usable returns an error if the server keeps nothing any more, which is for good, or has no
// room for submissions.
func (e *embedded) usable() error {
	if !e.keeps() {
		return fmt.Errorf("%w, or was, and the engine keeps nothing any more: make room, and start it again", service.ErrFull)
	}
	left, err := room(e.dir)
	if err == nil && left < reserve {
		err = fmt.Errorf("%w: %s has %d MiB left of the %d that are kept free: make room", service.ErrFull, e.dir, left>>20, reserve>>20)
	}
	return err
}

// listen lets workers of other machines connect, if the configuration says so.
func listen(c Config, o *server.Options) error {
	if c.Listen == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err == nil {
		o.Port, err = strconv.Atoi(port)
	}
	if err != nil {
		return &fault.Error{Message: "listen for workers on " + c.Listen, Advice: "give an address such as 0.0.0.0:4222", Err: err}
	}
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	o.Host, o.DontListen, o.TLSConfig, o.TLS = host, false, c.TLS, c.TLS != nil
	return nil
}

// connect opens a connection inside this process.
func (e *embedded) connect(options ...nats.Option) (*nats.Conn, error) {
	mine, err := e.keys.ownUser()
	if err != nil {
		return nil, err
	}
	return nats.Connect("", append(options, nats.InProcessServer(e.server), nats.Timeout(startTimeout), mine)...)
}

// url is where workers connect to; empty: it does not listen.
func (e *embedded) url(c Config) string {
	switch {
	case c.Listen == "":
		return ""
	case c.TLS != nil:
		return "tls://" + e.server.Addr().String()
	}
	return "nats://" + e.server.Addr().String()
}

func (e *embedded) stop() error {
	if e.server != nil {
		e.server.Shutdown()
		e.server.WaitForShutdown()
	}
	return e.lock.Unlock()
}

// serverLog passes on what the server says of faults.
type serverLog struct {
	log   *slog.Logger
	fatal chan string // the first one that keeps it from starting
}

func (l serverLog) Noticef(string, ...any)       {}
func (l serverLog) Debugf(string, ...any)        {}
func (l serverLog) Tracef(string, ...any)        {}
func (l serverLog) Warnf(f string, args ...any)  { l.log.Warn("nats: " + fmt.Sprintf(f, args...)) }
func (l serverLog) Errorf(f string, args ...any) { l.log.Error("nats: " + fmt.Sprintf(f, args...)) }
func (l serverLog) Fatalf(f string, args ...any) {
	select {
	case l.fatal <- fmt.Sprintf(f, args...):
	default: // the first one is the cause
		l.Errorf(f, args...)
	}
}
