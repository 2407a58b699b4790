package site

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"grade/grader/batch"
	"grade/grader/report/summary"
)

// regrading is a regrade that staff have begun on a page: one at a time.
type regrading struct {
	mu sync.Mutex // guards what follows
	regradeRun
}

// regradeRun is a run, and what came of it.
type regradeRun struct {
	id      string
	running bool
	began   time.Time
	event   batch.Event
	list    []batch.Regraded
	err     error
	ended   time.Time
	applied bool
}

// regradeView says what a regrade changes.
type regradeView struct {
	Possible bool              `json:"possible"`
	ID       string            `json:"id"` // of the run that this is about; empty: none
	Running  bool              `json:"running"`
	Began    time.Time         `json:"began,omitzero"`
	Done     int               `json:"done"`
	Total    int               `json:"total"`
	Failed   string            `json:"failed,omitempty"`
	Diff     summary.Regrading `json:"diff"`
	Text     string            `json:"-"`
	Admin    bool              `json:"-"`
	Changes  bool              `json:"-"`
}

func (q *request) regradePage() error {
	g := q.Site.regrade.now()
	v := regradeView{Possible: q.Regrade != nil, ID: g.id, Running: g.running, Began: g.began, Done: g.event.Done, Total: g.event.Total, Admin: q.person.Role == "admin"}
	if g.err != nil {
		v.Failed = g.err.Error()
	}
	if g.id != "" && !g.running && g.err == nil {
		v.Diff = q.difference(g.list, g.applied)
		v.Text, v.Changes = v.Diff.Text("an admin can let the new ones count"), v.Diff.Regraded > 0 && !g.applied
	}
	return q.show("regrade", v)
}

// now returns the run as it stands. A page is written without the lock: its reader may be slow.
func (g *regrading) now() regradeRun {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.regradeRun
}

// difference sums up what a regrade changes of what counts.
func (q *request) difference(list []batch.Regraded, applied bool) summary.Regrading {
	store, p := q.Results, q.course().Policy
	records := store.Attempts()
	if applied { // what holds is what was applied: the difference is to what held before
		return summary.NewRegrading(list, []summary.Counted{}, true)
	}
	before := batch.Book(p, records, store.Pending(), nil)
	after := batch.Book(p, batch.Applied(records, list), store.Pending(), nil)
	return summary.NewRegrading(list, summary.Differing(before, after), false)
}

// regradeStart grades anew whatever has changed, and changes nothing that holds.
func (q *request) regradeStart() error {
	if q.Regrade == nil {
		return &Problem{Status: http.StatusConflict, Detail: "this process has no worker that could grade anew", Advice: "start grade serve with --workers 1 or more"}
	}
	g := &q.Site.regrade
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running {
		return &Problem{Status: http.StatusConflict, Detail: "a regrade is running already", Advice: "wait for it"}
	}
	options, err := q.regradeOptions()
	if err != nil {
		return err
	}
	g.regradeRun = regradeRun{id: newID(), running: true, began: q.Now()}
	options.OnEvent = func(e batch.Event) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.event = e
	}
	// The run outlives the request that began it.
	go g.run(context.WithoutCancel(q.Context()), q.Site, options)
	q.Log.InfoContext(q.Context(), "regrade begun", "by", q.person.Login)
	return q.done("/course/regrade")
}

// regradeOptions says what grades anew. Without a sandbox that answers, nothing does.
func (q *request) regradeOptions() (batch.Options, error) {
	options, err := q.Regrade()
	if err != nil {
		return options, &Problem{Status: http.StatusServiceUnavailable, Detail: err.Error(), Advice: "try again when it answers"}
	}
	return options, nil
}

func (g *regrading) run(ctx context.Context, s *Site, o batch.Options) {
	list, err := regraded(ctx, s, o)
	if err != nil {
		s.Log.ErrorContext(ctx, "regrade", "error", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list, g.err, g.running, g.ended = list, err, false, s.Now()
}

func regraded(ctx context.Context, s *Site, o batch.Options) (list []batch.Regraded, err error) {
	r, err := batch.NewRegrader(s.Results)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.Run(ctx, o)
}

// regradeApply makes hold what the person has looked at: the form names the run.
func (q *request) regradeApply() error {
	g, id := &q.Site.regrade, q.field("id")
	g.mu.Lock()
	defer g.mu.Unlock()
	if q.Regrade == nil || g.running || g.id == "" || g.err != nil || g.applied || id != g.id {
		return &Problem{Status: http.StatusConflict, Detail: "this regrade is no longer the newest, or there is none", Advice: "look at the page of regrades, and decide there"}
	}
	options, err := q.regradeOptions()
	if err != nil {
		return err
	}
	r, err := batch.NewRegrader(q.Results)
	if err != nil {
		return err
	}
	if err := errors.Join(r.Apply(g.list, options), r.Close()); err != nil {
		return err
	}
	g.applied = true
	q.Log.InfoContext(q.Context(), "regrade applied", "by", q.person.Login, "attempts", len(g.list))
	return q.done("/course/regrade")
}
