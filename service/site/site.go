package site

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"grade/exercises/course"
	"grade/grader/batch"
	"grade/grader/gradebook"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/service"
	"grade/service/people"
)

// Engine keeps what is handed in, and has it graded.
type Engine interface {
	// HandIn returns when the submission is kept for good.
	HandIn(context.Context, service.Upload) (service.Attempt, error)
	// Attempts lists all that a student has handed in for an exercise, in order.
	Attempts(student, exercise string) []service.Attempt
	Attempt(student, exercise string, number int) (service.Attempt, bool)
	// PendingOf returns a student's submission without a verdict for an exercise; false: none.
	PendingOf(student, exercise string) (results.Pending, bool)
	// NoVerdict lists the attempts of all that have no verdict by a fault of ours.
	NoVerdict() []service.Attempt
	// Source returns the files of an attempt.
	Source(ctx context.Context, student, exercise string, number int) (*submission.Snapshot, error)
	// Follow tells what becomes of a student's attempts at an exercise, and first where the
	// newest stands. The channel closes when the context ends.
	Follow(ctx context.Context, student, exercise string) <-chan service.Progress
	// Retry has an attempt without a verdict graded again.
	Retry(ctx context.Context, student, exercise string, number int) error
	Queue() service.Queue
	// QueueBehind is the queue as an attempt sees it that has so many before it.
	QueueBehind(ahead int) service.Queue
}

// Course is a course as it was read last.
type Course struct {
	Policy    *gradebook.Policy
	Exercises []*course.Exercise
	Chapters  []course.Chapter
	// Faults say what is wrong with the course's files, to staff; what was read before
	// goes on.
	Faults []string
}

// exercise finds an exercise by name.
func (c *Course) exercise(name string) (*course.Exercise, bool) {
	for _, e := range c.Exercises {
		if e.Name == name {
			return e, true
		}
	}
	return nil, false
}

// Config is what a site needs.
type Config struct {
	Engine  Engine
	Results results.Store // of the engine
	Door    *people.Door
	Keep    people.Store   // what staff decide on pages, such as extensions
	Course  func() *Course // as read last; it is asked anew for each request
	Address string         // of the service, as people type it: https://grade.example.org
	OIDC    *people.OIDC   // nil: people come by invitations alone
	Issuer  string         // name of the button for OIDC
	// Regrade grades kept results anew, for staff to look at; nil: it is not possible here.
	Regrade func() (batch.Options, error)
	// Proxies are machines whose word on the address of a client counts.
	Proxies []netip.Prefix
	// UploadTime is how long a client may take to send an upload; 0: [DefaultUploadTime].
	UploadTime time.Duration
	// KeepAlive is how often a live page is told that its stream lives; 0: [DefaultKeepAlive].
	KeepAlive time.Duration
	Version   string
	Now       func() time.Time
	Log       *slog.Logger
}

// Site answers requests.
type Site struct {
	Config
	secure  bool // browsers come by TLS
	limits  limits
	streams *atOnce // live pages
	sending *atOnce // uploads
	metrics *metrics
	regrade regrading
	ready   sync.Map // of names to functions that return an error
}

// New returns a site. A caller closes nothing: the site ends with its engine.
func New(c Config) (*Site, error) {
	c.UploadTime = cmp.Or(c.UploadTime, DefaultUploadTime)
	c.KeepAlive = cmp.Or(c.KeepAlive, DefaultKeepAlive)
	s := &Site{Config: c, secure: strings.HasPrefix(c.Address, "https://"), limits: newLimits(c.Now), streams: newAtOnce(maxStreams), sending: newAtOnce(maxSending)}
	s.metrics = newMetrics(s)
	return s, nil
}

// Handler returns the handler of all addresses.
func (s *Site) Handler() http.Handler {
	own, exercises := http.NewServeMux(), http.NewServeMux()
	for _, route := range Routes() {
		mux := own
		if route.first() == "{exercise}" {
			mux = exercises
		}
		mux.Handle(route.Method+" "+route.Pattern, s.handle(route))
	}
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.turnAway(w, r, &Problem{Status: http.StatusForbidden, Detail: "this request comes from another site", Advice: "open the page here, and send it from there"})
	}))
	return s.observe(headers(s.secure, cross.Handler(s.fallback(own, exercises))))
}

// Collect returns the metrics of the site, for a registry that has others as well.
func (s *Site) Collect() prometheus.Gatherer { return s.metrics.registry }

// Check adds a condition without which the service is not ready.
func (s *Site) Check(name string, check func() error) { s.ready.Store(name, check) }

// The limits of a server: a client that is slower than this holds no connection.
const (
	headerTime  = 10 * time.Second
	requestTime = 30 * time.Second // but for uploads and streams
	idleTime    = 2 * time.Minute
	maxHeader   = 64 << 10
)

// Server returns a server for a handler with limits on all that a client can draw out.
func Server(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
