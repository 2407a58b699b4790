package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Engine keeps and queues the work of a course. Several goroutines may use it at a time.
type Engine struct {
	config Config
	names  names
	log    *slog.Logger
	server *embedded // nil: a cluster
	nc     *nats.Conn
	js     jetstream.JetStream

	store                *Store
	submissions, courses objects
	stop                 context.CancelFunc
	running              sync.WaitGroup
	busy                 keyed         // a lock for each cell: hand-ins of one student come one after another
	keeping              chan struct{} // holds as many as are kept at a time

	mu      sync.Mutex // guards what follows
	state   *state
	changed chan struct{} // closed and made anew whenever the log has grown here
	course  *loaded       // what [Engine.SetCourse] has set
}

// Open opens the engine of a course, and returns when all that is kept is in memory. The
// caller closes it.
func Open(ctx context.Context, c Config) (*Engine, error) {
	c = c.filled()
	if err := checkPlain(c.Course); err != nil {
		return nil, fmt.Errorf("open the engine: %w", err)
	}
	e := &Engine{config: c, names: names{c.Course}, log: c.Log, keeping: make(chan struct{}, maxKeeping), changed: make(chan struct{})}
	e.state, e.store = newState(c), &Store{e: e}
	if err := e.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open the engine: %w", err), e.Close())
	}
	return e, nil
}

func (e *Engine) open(ctx context.Context) (err error) {
	if err := e.connect(ctx); err != nil {
		return err
	}
	if e.js, err = jetstream.New(e.nc, jetstream.WithDefaultTimeout(callTimeout)); err != nil {
		return err
	}
	if e.config.NATS != "" {
		if err := e.checkSync(ctx); err != nil {
			return err
		}
		if most := e.nc.MaxPayload(); most < maxPayload {
			e.log.Warn("the cluster takes shorter messages than a long result: set max_payload to 8MB", "bytes", most)
		}
	}
	if err := e.createStreams(ctx); err != nil {
		return err
	}
	background, stop := context.WithCancel(context.Background())
	e.stop = stop
	if err := e.listenToWorkers(); err != nil {
		return err
	}
	e.goes(func() { e.follow(background) })
	if err := e.caughtUp(ctx); err != nil {
		return err
	}
	if e.config.Visit {
		return nil
	}
	e.goes(func() { e.watchWorkers(background) })
	e.goes(func() { e.sweepAlways(background) })
	return nil
}

// goes runs a part of the engine until it is closed.
func (e *Engine) goes(part func()) { e.running.Go(part) }

// connect opens the connection to a server of its own, or to the cluster.
func (e *Engine) connect(ctx context.Context) (err error) {
	if e.config.NATS != "" {
		e.nc, err = dial(ctx, e.log, e.config.NATS, e.config.Creds, "grade serve "+e.config.Course)
		return err
	}
	if e.server, err = startServer(e.config); err != nil {
		return err
	}
	e.nc, err = e.server.connect(nats.Name("grade serve"), nats.MaxReconnects(-1))
	return err
}

// sayAgain is the interval in which a connection that cannot be made is told.
const sayAgain = time.Minute

// dial connects to a server on the network. It goes on trying for as long as the context
// lasts, and later whenever the connection is lost; why it cannot is in the log.
func dial(ctx context.Context, log *slog.Logger, url, creds, name string, more ...nats.Option) (*nats.Conn, error) {
	var told time.Time // one goroutine calls the handler
	options := append([]nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(time.Second),
		nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2),
		nats.IgnoreAuthErrorAbort(), // two refusals end it for good otherwise, and new credentials in the file would not help
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if time.Since(told) > sayAgain {
				told = time.Now()
				log.Warn("the server refuses", "to", Shown(url), "because", err)
			}
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil: it was closed
				log.Warn("the connection is lost", "to", Shown(url), "because", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("the connection is back", "to", Shown(url)) }),
	}, more...)
	if creds != "" {
		options = append(options, nats.UserCredentials(creds))
	}
	for said := (time.Time{}); ; {
		nc, err := nats.Connect(url, options...)
		if err == nil {
			return nc, nil
		}
		if time.Since(said) > sayAgain {
			said = time.Now()
			log.Warn("cannot connect yet", "to", Shown(url), "because", err)
		}
		if errors.Is(err, nats.ErrAuthorization) || creds != "" && errors.Is(err, nats.ErrAuthExpired) {
			return nil, fmt.Errorf("connect to %s: %w; ask for new credentials", Shown(url), err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("connect to %s: %w", Shown(url), errors.Join(err, context.Cause(ctx)))
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// Shown is a list of servers as logs and people may see it: without names and passwords.
func Shown(servers string) string {
	list := strings.Split(servers, ",")
	for i, s := range list {
		at := strings.LastIndex(s, "@")
		if at < 0 {
			continue
		}
		list[i] = s[at+1:]
		if scheme, _, ok := strings.Cut(s[:at], "://"); ok {
			list[i] = scheme + "://" + list[i]
		}
	}
	return strings.Join(list, ",")
}

// URL is where workers of other machines connect to; empty: the engine takes none.
func (e *Engine) URL() string {
	if e.server == nil {
		return e.config.NATS
	}
	return e.server.url(e.config)
}

// Close stops the engine. What it has acknowledged is on the disk.
func (e *Engine) Close() (err error) {
	if e.stop != nil {
		e.stop()
	}
	if e.nc != nil {
		e.nc.Close()
	}
	e.running.Wait()
	e.mu.Lock()
	e.state.endFollowers()
	e.mu.Unlock()
	if e.server != nil {
		err = e.server.stop()
	}
	return err
}

// Alive returns an error if the engine cannot keep anything now.
func (e *Engine) Alive(ctx context.Context) error {
	if err := e.usable(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if _, err := e.js.Stream(ctx, e.names.log()); err != nil {
		return fmt.Errorf("reach the engine: %w", err)
	}
	return nil
}

// usable returns an error if the server in this process keeps nothing any more; a call to it
// would wait in vain.
func (e *Engine) usable() error {
	if e.server == nil {
		return nil
	}
	return e.server.usable()
}

// keyed holds a lock for each key.
type keyed struct{ locks sync.Map }

// lock waits for the lock of a key; the caller calls unlock.
func (k *keyed) lock(key any) (unlock func()) {
	l, _ := k.locks.LoadOrStore(key, &sync.Mutex{})
	l.(*sync.Mutex).Lock()
	return l.(*sync.Mutex).Unlock
}
