package site

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"grade/grader/fault"
	"grade/grader/verdict"
	"grade/service"
)

// Problem is an answer that is none: what is wrong, and what to do. As JSON it has the
// fields of RFC 9457, and advice.
type Problem struct {
	Status   int               `json:"status"`
	Title    string            `json:"title"`
	Detail   string            `json:"detail"`
	Advice   string            `json:"advice,omitempty"`
	Problems []verdict.Problem `json:"problems,omitempty"` // of a submission that was refused
	then     string            // the address to show after signing in
	retry    int               // seconds, for Retry-After
	plain    bool              // as text: a page would cost what a limit is to save
}

func (p *Problem) Error() string { return p.Detail }

// Heading says to people what kind of answer this is; Title is what HTTP calls it.
func (p *Problem) Heading() string {
	switch {
	case p.Status == http.StatusUnauthorized:
		return "You are not signed in"
	case p.Status == http.StatusForbidden:
		return "This is not for you"
	case p.Status == http.StatusNotFound:
		return "There is nothing here"
	case p.Status == http.StatusTooManyRequests:
		return "Please wait a little"
	case p.Status >= http.StatusInternalServerError:
		return "The service cannot do this now"
	}
	return "This could not be done"
}

func notFound(detail, advice string) *Problem {
	return &Problem{Status: http.StatusNotFound, Detail: detail, Advice: advice}
}

func unprocessable(advice, format string, args ...any) *Problem {
	return &Problem{Status: http.StatusUnprocessableEntity, Detail: fmt.Sprintf(format, args...), Advice: advice}
}

// problemOf returns the answer to an error. What went wrong with us is logged, and no reader
// gets to see it.
func problemOf(err error) (p *Problem, ours bool) {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return p, false
	case errors.As(err, &tooLarge):
		return &Problem{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("this is more than %d MiB", tooLarge.Limit>>20), Advice: "hand in the Go files of the solution, and nothing else"}, false
	case fault.KindOf(err) == fault.Student:
		return unprocessable("hand in the folder that holds your Go files, or an archive of it", "%s", fault.Told(err)), false
	case errors.Is(err, context.DeadlineExceeded):
		return &Problem{Status: http.StatusServiceUnavailable, Detail: "what is kept cannot be read just now", Advice: "try again in a minute; nothing that was acknowledged is lost", retry: 30}, true
	case errors.Is(err, service.ErrFull):
		return &Problem{Status: http.StatusServiceUnavailable, Detail: "the service has no room left, and takes no submissions for now", Advice: "tell the course's staff, and hand in again when they have made room; nothing that was acknowledged is lost"}, true
	}
	return &Problem{Status: http.StatusInternalServerError, Detail: "something is wrong here, and not with what you sent", Advice: "try again in a minute; nothing that was acknowledged is lost"}, true
}

// refuse writes a problem as a page or as JSON.
func (s *Site) refuse(w http.ResponseWriter, r *http.Request, p *Problem) {
	p.Title = http.StatusText(p.Status)
	if p.retry > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(p.retry))
	}
	if p.plain {
		http.Error(w, p.Detail+": "+p.Advice, p.Status)
		return
	}
	if wantsJSON(r) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(p.Status)
		_ = json.NewEncoder(w).Encode(p) // the reader is gone
		return
	}
	q := &request{Site: s, Request: r, w: w}
	q.person, _, _ = q.asking()
	q.page(p.Status, "problem", problemView{Problem: p, SignIn: p.Status == http.StatusUnauthorized, Then: p.then, OIDC: s.OIDC != nil, Issuer: s.Issuer})
}

// turnAway refuses a request that is for no route, and counts it, whoever asks.
func (s *Site) turnAway(w http.ResponseWriter, r *http.Request, p *Problem) {
	if err := (&request{Site: s, Request: r, w: w}).strange(); err != nil {
		p, _ = problemOf(err)
	}
	s.refuse(w, r, p)
}

type problemView struct {
	*Problem
	SignIn, OIDC bool
	Then, Issuer string
}

// wantsJSON reports whether an answer is for a program.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}
