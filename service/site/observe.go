package site

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are what /metrics tells of the site and the queue.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	uploads  *prometheus.CounterVec
	streams  prometheus.Gauge
}

func newMetrics(s *Site) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "grade_http_request_seconds", Help: "Time to answer a request, by route and status.", Buckets: []float64{.005, .01, .025, .05, .1, .2, .5, 1, 2, 5}}, []string{"method", "route", "status"}),
		uploads:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "grade_uploads_total", Help: "Uploads, by whether they were accepted or refused."}, []string{"outcome"}),
		streams:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "grade_live_pages", Help: "Pages that are open and watch a grading."}),
	}
	m.registry.MustRegister(m.requests, m.uploads, m.streams, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, outcome := range []string{"accepted", "refused"} {
		m.uploads.WithLabelValues(outcome) // a series that is not there yet is not 0
	}
	gauge := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	gauge("grade_queue_waiting", "Attempts that no worker has.", func() float64 { return float64(s.Engine.Queue().Waiting) })
	gauge("grade_queue_grading", "Attempts that a worker has.", func() float64 { return float64(s.Engine.Queue().Grading) })
	gauge("grade_queue_oldest_seconds", "Age of the oldest attempt that waits; 0: none does.", func() float64 {
		if at := s.Engine.Queue().Oldest; !at.IsZero() {
			return s.Now().Sub(at).Seconds()
		}
		return 0
	})
	gauge("grade_workers", "Workers that take jobs.", func() float64 {
		n := 0
		for _, w := range s.Engine.Queue().Workers {
			if w.Takes() {
				n++
			}
		}
		return float64(n)
	})
	return m
}

// watched is a request as the log and the metrics see it.
type watched struct {
	http.ResponseWriter
	status int
	route  Route
}

func (w *watched) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// The time of a write, and what a reader has to take in it.
const (
	writeTime = 30 * time.Second
	writeSize = 64 << 10
)

// Write gives a reader time for each part, however long the whole is: one that takes nothing
// holds no connection.
func (w *watched) Write(p []byte) (n int, err error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	for first := true; err == nil && (first || n < len(p)); first = false {
		w.until(time.Now().Add(writeTime))
		var wrote int
		wrote, err = w.ResponseWriter.Write(p[n:min(len(p), n+writeSize)])
		n += wrote
	}
	return n, err
}

// until sets when a write has to be over; zero: never.
func (w *watched) until(at time.Time) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(at) // a recorder in a test has none
}

// Unwrap is for [http.ResponseController].
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

type watchedKey struct{}

// seen tells the log and the metrics which route a request has taken. Its pattern, and not
// its path, names it: there are as many paths as attempts.
func seen(r *http.Request, route Route) {
	if w, ok := r.Context().Value(watchedKey{}).(*watched); ok {
		w.route = route
	}
}

// observe measures and logs each request.
func (s *Site) observe(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := s.Now()
		seen := &watched{ResponseWriter: w}
		seen.until(time.Time{}) // that of the request before holds for the connection
		h.ServeHTTP(seen, r.WithContext(context.WithValue(r.Context(), watchedKey{}, seen)))
		took := s.Now().Sub(started)
		s.metrics.requests.WithLabelValues(method(r.Method), seen.route.Pattern, strconv.Itoa(seen.status)).Observe(took.Seconds())
		s.Log.DebugContext(r.Context(), "request", "method", r.Method, "route", seen.route.Pattern, "status", seen.status, "took_ms", float64(took.Microseconds())/1000)
	})
}

// method keeps a client from inventing methods, each of which would be a series.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost:
		return m
	}
	return "other"
}

// metricsPage answers with the metrics. It is for staff: a token is what Prometheus has for
// that.
func (q *request) metricsPage() error {
	promhttp.HandlerFor(q.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP(q.w, q.Request)
	return nil
}

// health answers as long as the process does.
func (q *request) health() error { return q.json(http.StatusOK, map[string]string{"status": "ok"}) }

// failing are the checks that say that no submission is taken.
func (s *Site) failing() map[string]error {
	failing := map[string]error{}
	s.ready.Range(func(name, check any) bool {
		if err := check.(func() error)(); err != nil {
			failing[name.(string)] = err
		}
		return true
	})
	return failing
}

// readiness answers whether submissions are taken.
func (q *request) readiness() error {
	failed := map[string]string{}
	for name, err := range q.failing() {
		q.Log.WarnContext(q.Context(), "not ready", "check", name, "error", err)
		failed[name] = "not ready" // the reason is for the log: anybody may ask
	}
	if len(failed) > 0 {
		return q.json(http.StatusServiceUnavailable, map[string]any{"status": "not ready", "checks": failed})
	}
	return q.json(http.StatusOK, map[string]string{"status": "ready"})
}
