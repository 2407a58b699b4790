// Package progress shows the progress of gradings on a terminal: a status line that is
// redrawn, and above it a line for each check when it is decided. The status line
// disappears at the end. The package decides nothing, and no result depends on it.
//
// A caller makes a [Line], starts it, and passes it the events of a grading, or of a batch
// in the words of [OfBatch].
package progress

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

// Line is a status line. Its methods may be called at the same time.
type Line struct {
	out terminal.Stream
	now func() time.Time

	mu     sync.Mutex
	since  time.Time
	active []grader.Phase // phases that have begun and not ended, in that order
	text   string         // what the last event waits for
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
	grader.Race:    "looking for data races",
	grader.Measure: "measuring",
}

// New returns a line on a terminal; now is the clock that elapsed time is taken from.
func New(out terminal.Stream, now func() time.Time) *Line {
	return &Line{out: out, now: now, since: now()}
}

// Start draws the status line until stop is called, which erases it.
func (p *Line) Start() (stop func()) {
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

func (p *Line) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frame++
	p.draw()
}

// Event takes an event of a grading.
func (p *Line) Event(e grader.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = e.Waiting
	switch {
	case e.Check != nil:
		p.making = work{}
		p.checks = work{current: int64(e.Decided), total: int64(e.Total)}
		fmt.Fprintf(p.out, "%s%s\n", eraseLine, report.CheckLine(*e.Check, report.TextOptions{Color: p.out.Color, Width: p.out.Width}))
	case e.Done:
		p.active = slices.DeleteFunc(p.active, func(p grader.Phase) bool { return p == e.Phase })
	case !slices.Contains(p.active, e.Phase):
		p.active = append(p.active, e.Phase)
	}
	p.draw()
}

// Say writes a line above the status line, to stay.
func (p *Line) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "%s%s\n", eraseLine, terminal.Truncate(text, p.out.Width))
	p.draw()
}

// Work takes the progress of work that belongs to no phase, such as an image being made;
// total is 0 if it is not known. The line shows the last call until the work is complete or
// a check is decided, which needs all of it.
func (p *Line) Work(what string, current, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.making = work{what, current, total}
	if total > 0 && current >= total {
		p.making = work{}
	}
	p.draw()
}

func (p *Line) draw() {
	fmt.Fprint(p.out, eraseLine+p.status())
}

// status returns the current text of the line: the phase, the progress, the time it has
// taken.
func (p *Line) status() string {
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
	pal := p.out.Palette()
	s = terminal.Truncate(s, p.out.Width-3-len(elapsed))
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
