//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"grade/bench/class"
	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader/submission"
	"grade/service/client"
)

// eager is the login of the student who hands in again and again.
const eager = "eager"

// rushed is what is seen of a rush. It is safe for concurrent use.
type rushed struct {
	mu       sync.Mutex
	acks     map[string][]time.Duration // of uploads that were taken, by student
	invalid  []time.Duration            // of uploads that a service has to refuse
	failed   []string                   // uploads and pages, and what was wrong
	pages    []page
	memory   []float64 // MiB, in the order of time
	began    time.Time
	handedIn time.Duration // until the last upload
	graded   time.Duration // until nothing waited
}

// page is a look at a page: when somebody wanted it, and how long that took.
type page struct{ at, took time.Duration }

func (r *rushed) note(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// rush lets a class hand in, waits until all is graded, and reports.
func rush(ctx context.Context, s *served, o options, all []class.Submission, out, progress io.Writer) error {
	fmt.Fprintln(progress, "making images, and compiling references")
	if err := s.prepare(ctx, all); err != nil {
		return err
	}
	fmt.Fprintf(progress, "signing in %d students\n", len(all)+1)
	browsers, err := s.invite(ctx, append(logins(all), eager))
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "%d uploads within %v\n", len(all)+o.eager, o.over)
	r := &rushed{began: time.Now(), acks: map[string][]time.Duration{}}
	watching, done := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	watchers.Go(func() { r.watchPages(watching, s, all, browsers) })
	watchers.Go(func() { r.watchMemory(watching, s) })
	r.handIn(ctx, watching, s, o, all, browsers, &watchers)
	r.handedIn = time.Since(r.began)
	err = r.untilGraded(ctx, s, progress)
	done()
	watchers.Wait()
	if err != nil {
		return errors.Join(err, r.seen(o, out)) // ended by hand: what was seen until then
	}
	return r.report(ctx, s, o, out)
}

func logins(all []class.Submission) (names []string) {
	for _, h := range all {
		names = append(names, h.Student)
	}
	return names
}

// turns are the submissions and when each is handed in. The seed is fixed.
func turns(o options, all []class.Submission) map[time.Duration]class.Submission {
	r := rand.New(rand.NewPCG(1, 2))
	at := map[time.Duration]class.Submission{}
	draw := func(h class.Submission) { at[time.Duration(r.Int64N(int64(o.over)))] = h }
	for _, h := range all {
		draw(h)
	}
	right := all[slices.IndexFunc(all, func(h class.Submission) bool { return h.Class == fixture.Accepted })]
	for i := range o.eager {
		h := right
		h.Student, h.Files = eager, slices.Clone(h.Files)
		h.Files[0].Data = fmt.Appendf(slices.Clone(h.Files[0].Data), "\n// eager %d\n", i)
		draw(h)
	}
	return at
}

// handIn hands all in, each at its time. Those who have handed in stay on the page of their
// attempt, with its stream, until watching ends.
func (r *rushed) handIn(ctx, watching context.Context, s *served, o options, all []class.Submission, browsers map[string]*http.Client, watchers *sync.WaitGroup) {
	var uploads sync.WaitGroup
	defer uploads.Wait()
	for at, h := range turns(o, all) {
		uploads.Go(func() {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Until(r.began.Add(at))):
			}
			a, took, err := s.handIn(ctx, browsers[h.Student], h)
			switch {
			case err == nil:
				r.note(func() { r.acks[h.Student] = append(r.acks[h.Student], took) })
				watchers.Go(func() { r.watchAttempt(watching, s, browsers[h.Student], a) })
			case errors.Is(err, errInvalid) && h.Class == fixture.Invalid:
				r.note(func() { r.invalid = append(r.invalid, took) })
			default:
				r.note(func() { r.failed = append(r.failed, fmt.Sprintf("%s %s: %v", h.Exercise.Name, h.Name, err)) })
			}
		})
	}
}

// errInvalid is the answer to what cannot be a submission.
var errInvalid = errors.New("it cannot be graded")

// handIn uploads a submission. It returns the attempt and how long it took to be answered.
func (s *served) handIn(ctx context.Context, browser *http.Client, h class.Submission) (a client.Attempt, took time.Duration, err error) {
	body, kind, err := client.Form(&submission.Snapshot{Files: goFiles(h.Files)})
	if err != nil {
		return a, 0, err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+client.AttemptsOf(h.Exercise.Name), body)
	if err != nil {
		return a, 0, err
	}
	q.Header.Set("Content-Type", kind)
	q.Header.Set("Accept", "application/json")
	began := time.Now()
	answer, err := browser.Do(q)
	if err != nil {
		return a, 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	took = time.Since(began)
	switch {
	case err != nil:
	case answer.StatusCode == http.StatusCreated:
		err = json.Unmarshal(text, &a)
	case answer.StatusCode == http.StatusUnprocessableEntity:
		err = fmt.Errorf("%w: %s", errInvalid, text)
	default:
		err = fmt.Errorf("%s %s", answer.Status, text)
	}
	return a, took, err
}

func goFiles(files []course.File) (list []submission.File) {
	for _, f := range files {
		if strings.HasSuffix(f.Name, ".go") {
			list = append(list, submission.File{Name: f.Name, Data: f.Data})
		}
	}
	return list
}

// between is how long a watcher waits between two looks.
const between = 100 * time.Millisecond

// watchPages opens pages of students: the course's, and that of their exercise. Each look begins
// at its time, whether the one before has ended or not, so that a service that stands still makes
// as many of them wait as it would of students.
func (r *rushed) watchPages(ctx context.Context, s *served, all []class.Submission, browsers map[string]*http.Client) {
	var looks sync.WaitGroup
	defer looks.Wait()
	for i := 0; ; i++ {
		h, at := all[i%len(all)], time.Duration(i)*between
		if !pause(ctx, time.Until(r.began.Add(at))) {
			return
		}
		looks.Go(func() { r.look(ctx, s, browsers[h.Student], []string{"/", "/" + h.Exercise.Name}[i%2], at) })
	}
}

// look opens a page that somebody wanted at a time.
func (r *rushed) look(ctx context.Context, s *served, browser *http.Client, address string, at time.Duration) {
	err := s.look(ctx, browser, address)
	took := time.Since(r.began) - at
	r.note(func() {
		switch {
		case err == nil:
			r.pages = append(r.pages, page{at, took})
		case ctx.Err() == nil:
			r.failed = append(r.failed, err.Error())
		}
	})
}

// watchAttempt opens the page of an attempt, and reads what it streams to its end.
func (r *rushed) watchAttempt(ctx context.Context, s *served, browser *http.Client, a client.Attempt) {
	r.look(ctx, s, browser, a.Address, time.Since(r.began))
	_ = s.look(ctx, browser, a.Events) // a page whose stream ends looks again; this one need not
}

func (r *rushed) watchMemory(ctx context.Context, s *served) {
	for {
		m := s.resident()
		r.note(func() { r.memory = append(r.memory, m) })
		if !pause(ctx, time.Second) {
			return
		}
	}
}

// untilGraded waits until nothing waits and nothing is being graded.
func (r *rushed) untilGraded(ctx context.Context, s *served, progress io.Writer) error {
	for last := -1; ; {
		q, err := s.queue(ctx)
		if err != nil {
			return err
		}
		left := q.Waiting + q.Grading
		if left == 0 {
			r.graded = time.Since(r.began)
			return nil
		}
		if left/50 != last/50 {
			fmt.Fprintf(progress, "%d to be graded\n", left)
			last = left
		}
		if !pause(ctx, time.Second) {
			return context.Cause(ctx)
		}
	}
}

// pause waits, and reports whether ctx has not ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
