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
)

// startTimeout bounds the start of the server in this process. It reads its files anew,
// which takes longer after a power cut.
const startTimeout = 2 * time.Minute

// maxPayload is the longest message: a result with all that an exercise may show is longer
// than the server's own default of 1 MiB allows.
const maxPayload = 8 << 20

// embedded is a NATS server in this process.
type embedded struct {
	server *server.Server
	lock   *flock.Flock
	keys   *keys // nil: it does not listen
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
	e := &embedded{lock: flock.New(filepath.Join(c.DataDir, "lock"))}
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
		ServerName: "grade", JetStream: true, StoreDir: filepath.Join(c.DataDir, "nats"), SyncAlways: true,
		DontListen: true, NoSigs: true, MaxPayload: maxPayload, JetStreamMaxMemory: 64 << 20, DisableJetStreamBanner: true,
	}
	if c.Listen != "" {
		if err := e.listen(c, o); err != nil {
			return err
		}
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	e.server = s
	s.SetLoggerV2(serverLog{c.Log}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(startTimeout) {
		return fmt.Errorf("the server in this process is not ready after %v", startTimeout)
	}
	if !s.JetStreamEnabled() {
		return fmt.Errorf("the server in this process cannot use %s", o.StoreDir)
	}
	return nil
}

// listen lets workers of other machines connect, with credentials.
func (e *embedded) listen(c Config, o *server.Options) error {
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
	o.Host, o.DontListen = host, false
	if e.keys, err = openKeys(filepath.Join(c.DataDir, "keys")); err != nil {
		return err
	}
	return e.keys.guard(o)
}

// connect opens a connection inside this process.
func (e *embedded) connect(options ...nats.Option) (*nats.Conn, error) {
	options = append(options, nats.InProcessServer(e.server))
	if e.keys != nil {
		mine, err := e.keys.ownUser()
		if err != nil {
			return nil, err
		}
		options = append(options, mine)
	}
	return nats.Connect("", options...)
}

// url is where workers connect to; empty: it does not listen.
func (e *embedded) url() string {
	if e.keys == nil {
		return ""
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
type serverLog struct{ log *slog.Logger }

func (l serverLog) Noticef(string, ...any)       {}
func (l serverLog) Debugf(string, ...any)        {}
func (l serverLog) Tracef(string, ...any)        {}
func (l serverLog) Warnf(f string, args ...any)  { l.log.Warn("nats: " + fmt.Sprintf(f, args...)) }
func (l serverLog) Errorf(f string, args ...any) { l.log.Error("nats: " + fmt.Sprintf(f, args...)) }
func (l serverLog) Fatalf(f string, args ...any) { l.log.Error("nats: " + fmt.Sprintf(f, args...)) }
