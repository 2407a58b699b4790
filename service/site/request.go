package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"grade/exercises/course"
	"grade/service/people"
)

// request is one request, with the person who makes it.
type request struct {
	*Site
	*http.Request
	w      http.ResponseWriter
	person *people.Person // nil: not signed in
	token  bool           // the person came with a token
	read   *Course        // as of the beginning of the request
}

// handle lets those in whom a route is for, and turns errors into answers.
func (s *Site) handle(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen(r, route)
		q := &request{Site: s, Request: r, w: w}
		err := q.admit(route)
		if err == nil {
			err = route.do(q)
		}
		if err == nil {
			return
		}
		p, ours := problemOf(err)
		if ours {
			s.Log.ErrorContext(r.Context(), "request", "route", route.Pattern, "error", err) // an address may hold a link that lets in
		}
		s.refuse(w, r, p)
	})
}

// admit finds out who asks, and refuses who may not. Who comes with a secret that is not known
// is a stranger, and slowed down: after a restore a whole class is, behind one address.
func (q *request) admit(route Route) error {
	if route.uncounted() {
		return nil
	}
	person, refused, err := q.asking()
	if err != nil && route.For != Anyone {
		return err
	}
	q.person = person
	if err := q.limited(route); err != nil {
		return err
	}
	switch {
	case route.For == Anyone:
		return nil
	case refused != nil:
		return refused
	case q.person == nil:
		return q.unauthorized("you are not signed in")
	case q.token && !route.forToken():
		return &Problem{Status: http.StatusForbidden, Detail: "a token hands in and reads, and does nothing else", Advice: "do this on the page, in a browser"}
	case !route.For.allows(q.person.Role):
		return &Problem{Status: http.StatusForbidden, Detail: "this page is not for the role of " + string(q.person.Role), Advice: "begin at the list of exercises"}
	}
	return nil
}

// asking returns the person of a token or of a session, or why it is none's; nil: there is
// neither.
func (q *request) asking() (person *people.Person, refused *Problem, err error) {
	var p people.Person
	if token, ok := strings.CutPrefix(q.Header.Get("Authorization"), "Bearer "); ok {
		if p, err = q.Door.ByToken(q.Context(), token); stranger(err) {
			refused = q.unauthorized("the token is not valid any more")
			refused.Advice = "get a new one: grade login " + q.Address
			return nil, refused, nil
		}
		q.token = true
		return personOf(p, err)
	}
	cookie, err := q.Cookie(q.cookieName("session"))
	if err != nil {
		return nil, nil, nil
	}
	if p, err = q.Door.BySession(q.Context(), cookie.Value); stranger(err) {
		return nil, q.unauthorized("you are not signed in any more"), nil
	}
	return personOf(p, err)
}

func personOf(p people.Person, err error) (*people.Person, *Problem, error) {
	if err != nil {
		return nil, nil, err
	}
	return &p, nil, nil
}

// stranger reports whether the door knows no person of a secret.
func stranger(err error) bool {
	return errors.Is(err, people.ErrUnknown) || errors.Is(err, people.ErrExpired) || errors.Is(err, people.ErrStranger)
}

func (q *request) unauthorized(detail string) *Problem {
	q.w.Header().Set("WWW-Authenticate", "Bearer")
	advice := "open the link of your invitation; it lets in once, so for another browser, or after signing out, ask your teacher for a new one"
	if q.OIDC != nil {
		advice = "sign in with " + q.Issuer
	}
	p := &Problem{Status: http.StatusUnauthorized, Detail: detail, Advice: advice}
	if q.Method == http.MethodGet {
		p.then = q.URL.Path
	}
	return p
}

// course returns the course as it is for all of this request.
func (q *request) course() *Course {
	if q.read == nil {
		q.read = q.extended(q.Course())
	}
	return q.read
}

// exercise returns the exercise that the address names.
func (q *request) exercise() (*course.Exercise, error) {
	e, ok := q.course().exercise(q.PathValue("exercise"))
	if !ok {
		var names []string
		for _, e := range q.course().Exercises {
			names = append(names, e.Name)
		}
		return nil, notFound(fmt.Sprintf("there is no exercise %q", q.PathValue("exercise")), "the course has: "+strings.Join(names, ", "))
	}
	return e, nil
}

// show answers with a view, as a page or as JSON.
func (q *request) show(name string, view any) error { return q.showAs(http.StatusOK, name, view) }

func (q *request) showAs(status int, name string, view any) error {
	q.w.Header().Add("Vary", "Accept")
	if wantsJSON(q.Request) {
		return q.json(status, view)
	}
	return q.page(status, name, view)
}

func (q *request) json(status int, view any) error {
	data, err := json.Marshal(view)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	q.w.Header().Set("Content-Type", "application/json")
	q.w.WriteHeader(status)
	_, _ = q.w.Write(append(data, '\n')) // the reader is gone
	return nil
}

// page answers with a page in the frame of the site.
func (q *request) page(status int, name string, view any) error {
	var b bytes.Buffer
	f := frame{View: view, Page: name, Person: q.person, Title: q.course().Policy.Title, Zone: q.course().Policy.Zone, Now: q.Now(), Path: q.URL.Path, Assets: assetNames, Version: q.Version}
	if f.Staff() {
		f.Faults = q.course().Faults
	}
	if f.Title == "" {
		f.Title = "Course"
	}
	if err := pages[name].ExecuteTemplate(&b, "frame", f); err != nil {
		return fmt.Errorf("write page %s: %w", name, err)
	}
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q.w.WriteHeader(status)
	_, _ = q.w.Write(b.Bytes()) // the reader is gone
	return nil
}

// done sends a browser on to another page after a change, and tells a program where that is.
func (q *request) done(to string) error {
	if wantsJSON(q.Request) {
		q.w.Header().Set("Location", to)
		return q.json(http.StatusOK, map[string]string{"address": to})
	}
	http.Redirect(q.w, q.Request, to, http.StatusSeeOther)
	return nil
}

// maxForm is the largest form, in bytes, but for one with files.
const maxForm = 64 << 10

// field returns a value of a form, of at most 1 kB.
func (q *request) field(name string) string {
	v := q.text(name)
	return v[:min(len(v), 1<<10)]
}

// text returns a value of a form, whole.
func (q *request) text(name string) string {
	q.Body = http.MaxBytesReader(q.w, q.Body, maxForm)
	return strings.TrimSpace(q.PostFormValue(name))
}

// cookieName returns the full name of a cookie. With TLS, the prefix has browsers refuse
// one that another host of the domain has set.
func (q *request) cookieName(name string) string {
	if q.secure {
		return "__Host-grade-" + name
	}
	return "grade-" + name
}

func (q *request) setCookie(name, value string, life time.Duration) {
	http.SetCookie(q.w, &http.Cookie{
		Name: q.cookieName(name), Value: value, Path: "/", MaxAge: int(life / time.Second),
		HttpOnly: true, Secure: q.secure, SameSite: http.SameSiteLaxMode,
	})
}

func (q *request) dropCookie(name string) {
	http.SetCookie(q.w, &http.Cookie{Name: q.cookieName(name), Path: "/", MaxAge: -1, HttpOnly: true, Secure: q.secure, SameSite: http.SameSiteLaxMode})
}

// client returns the address of who asks: what the proxies in front of us say, if there
// are any. Of IPv6, it is the network: a person has all addresses of it.
func (q *request) client() string {
	host, _, err := net.SplitHostPort(q.RemoteAddr)
	if err != nil {
		return q.RemoteAddr
	}
	forwarded := strings.Split(strings.Join(q.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(forwarded) - 1; i >= 0 && q.isProxy(host); i-- {
		if h := strings.TrimSpace(forwarded[i]); h != "" {
			host = h
		}
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if a = a.Unmap(); a.Is6() {
		p, _ := a.Prefix(64)
		return p.String()
	}
	return a.String()
}

func (q *request) isProxy(host string) bool {
	a, err := netip.ParseAddr(host)
	for _, p := range q.Proxies {
		if err == nil && p.Contains(a.Unmap()) {
			return true
		}
	}
	return false
}

// local returns an address of this site; anything else becomes the first page.
func local(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.Contains(address, `\`) {
		return "/"
	}
	return u.EscapedPath()
}
