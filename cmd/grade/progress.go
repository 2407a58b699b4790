package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"grade/grader"
	"grade/grader/report"
	"grade/grader/report/terminal"
)

// progress shows a grading on a terminal while it goes on: a status line that is
// drawn again and again, and above it a line for each check as it is decided.
type progress struct {
	out stream
	now func() time.Time

	mu     sync.Mutex
	since  time.Time
	active []grader.Phase // phases that have begun and not ended, in that order
	text   string         // what the last event said about itself
	checks work           // decided, of how many
	making work           // what goes on beside the phases, such as making an image
	frame  int
}

type work struct {
	what           string
	current, total int64
}

// redraw is fast enough for a spinner and slow enough for a serial line.
const redraw = 100 * time.Millisecond

const eraseLine = "\r\x1b[2K"

var frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// doing says what a phase does. A phase that is not here says its own name.
var doing = map[grader.Phase]string{
	grader.Vet:     "checking the source",
	grader.Build:   "building",
	grader.Start:   "starting the sandbox",
	grader.Test:    "testing",
	grader.Measure: "measuring",
}

func newProgress(out stream, now func() time.Time) *progress {
	return &progress{out: out, now: now, since: now()}
}

// watch is a progress if somebody may be watching, and nil if not.
func (a *app) watch(quiet bool) *progress {
	if quiet || !a.err.live {
		return nil
	}
	return newProgress(a.err, a.now)
}

// start draws until stop is called, which leaves no trace of the status line.
func (p *progress) start() (stop func()) {
	ticker := time.NewTicker(redraw)
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-ticker.C:
				p.tick()
			case <-quit:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(quit)
		<-gone
		p.mu.Lock()
		defer p.mu.Unlock()
		fmt.Fprint(p.out, eraseLine)
		p.out.Writer = io.Discard // a grading that is given up may still have news
	}
}

func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frame++
	p.draw()
}

// event takes news of a grading.
func (p *progress) event(e grader.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = e.Waiting
	switch {
	case e.Check != nil:
		p.making = work{}
		p.checks = work{current: int64(e.Decided), total: int64(e.Total)}
		fmt.Fprintf(p.out, "%s%s\n", eraseLine, report.CheckLine(*e.Check, p.out.textOptions()))
	case e.Done:
		p.active = slices.DeleteFunc(p.active, func(p grader.Phase) bool { return p == e.Phase })
	case !slices.Contains(p.active, e.Phase):
		p.active = append(p.active, e.Phase)
	}
	p.draw()
}

// beside takes news of work that belongs to no phase. The last word of it stands
// until it is complete or a check is decided, which needs all of it.
func (p *progress) beside(what string, current, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.making = work{what, current, total}
	if total > 0 && current >= total {
		p.making = work{}
	}
	p.draw()
}

func (p *progress) draw() {
	fmt.Fprint(p.out, eraseLine+p.status())
}

// status is the line as it stands: what goes on, how far it is, how long it took.
func (p *progress) status() string {
	words := make([]string, 0, len(p.active)+2)
	for _, phase := range p.active {
		word, ok := doing[phase]
		if !ok {
			word = terminal.Escape(string(phase))
		}
		words = append(words, word)
	}
	if p.text != "" {
		words = append(words, terminal.Escape(p.text))
	}
	if p.making.what != "" {
		words = append(words, terminal.Escape(p.making.what)+share(p.making))
	}
	if len(words) == 0 {
		words = append(words, "grading")
	}
	s := strings.Join(words, ", ")
	if p.checks.total > 0 {
		s += fmt.Sprintf("  %d of %d checks", p.checks.current, p.checks.total)
	}
	elapsed := fmt.Sprintf("  %.1f s", p.now().Sub(p.since).Seconds())
	pal := p.out.palette()
	s = terminal.Truncate(s, p.out.width-3-len(elapsed))
	return pal.Cyan(frames[p.frame%len(frames)]) + " " + s + pal.Dim(elapsed)
}

// share draws how much of w is done; nothing where that is not known.
func share(w work) string {
	if w.total <= 0 {
		return ""
	}
	const cells = 16
	done := float64(max(0, w.current)) / float64(w.total)
	filled := min(cells, int(done*cells))
	return " " + strings.Repeat("█", filled) + strings.Repeat("·", cells-filled) + fmt.Sprintf(" %d %%", int(done*100))
}
