package site

import (
	"net/http"
	"slices"
	"strings"

	"grade/service/people"
)

// Access says whom an address is for. The zero value is invalid.
type Access int

// The kinds of access.
const (
	Anyone   Access = iota + 1 // also who is not signed in
	SignedIn                   // every person in the course, about themselves
	Teachers                   // staff and admins, about everybody
	Admins
)

// allows reports whether a role may use an address.
func (a Access) allows(r people.Role) bool {
	switch a {
	case Anyone, SignedIn:
		return true
	case Teachers:
		return r.Teaches()
	}
	return r == people.Admin
}

// Route is an address, and who may use it. A test has a table of what each role gets there,
// from which none can be missing.
type Route struct {
	Method  string
	Pattern string // of [http.ServeMux]
	For     Access
	Stable  bool // its JSON is in the OpenAPI document
	do      func(*request) error
}

// Routes returns all addresses.
func Routes() []Route {
	return []Route{
		{"GET", "/{$}", SignedIn, true, (*request).home},
		{"GET", "/{exercise}", SignedIn, true, (*request).exercisePage},
		{"GET", "/{exercise}/starter.zip", SignedIn, false, (*request).starter},
		{"GET", "/{exercise}/board", SignedIn, false, (*request).board},
		{"POST", "/{exercise}/attempts", SignedIn, true, (*request).handIn},
		{"GET", "/{exercise}/attempts/{number}", SignedIn, true, (*request).attemptPage},
		{"GET", "/{exercise}/attempts/{number}/events", SignedIn, true, (*request).events},
		{"GET", "/{exercise}/attempts/{number}/source", SignedIn, false, (*request).source},
		{"GET", "/account", SignedIn, false, (*request).account},
		{"POST", "/account/name", SignedIn, false, (*request).rename},
		{"POST", "/account/tokens/{id}/revoke", SignedIn, false, (*request).revoke},
		{"POST", "/sign-out", SignedIn, false, (*request).signOut},

		{"GET", "/sign-in", Anyone, false, (*request).signIn},
		{"GET", "/sign-in/oidc", Anyone, false, (*request).oidcBegin},
		{"GET", "/sign-in/oidc/callback", Anyone, false, (*request).oidcFinish},
		{"GET", "/enter/{link}", Anyone, false, (*request).invited},
		{"POST", "/enter/{link}", Anyone, false, (*request).enter},
		{"POST", "/devices", Anyone, true, (*request).deviceAsk},
		{"POST", "/devices/{code}/token", Anyone, true, (*request).deviceCollect},
		{"GET", "/devices/{code}", SignedIn, false, (*request).devicePage},
		{"POST", "/devices/{code}", SignedIn, false, (*request).deviceApprove},

		{"GET", "/course", Teachers, true, (*request).gradebookPage},
		{"GET", "/course/gradebook/{format}", Teachers, false, (*request).download},
		{"GET", "/course/students/{student}", Teachers, true, (*request).story},
		{"GET", "/course/students/{student}/{exercise}/attempts/{number}", Teachers, true, (*request).attemptOf},
		{"GET", "/course/students/{student}/{exercise}/attempts/{number}/events", Teachers, false, (*request).eventsOf},
		{"GET", "/course/students/{student}/{exercise}/attempts/{number}/source", Teachers, false, (*request).sourceOf},
		{"POST", "/course/students/{student}/{exercise}/attempts/{number}/retry", Teachers, false, (*request).retry},
		{"GET", "/course/exercises/{exercise}", Teachers, true, (*request).checksPage},
		{"GET", "/course/queue", Teachers, true, (*request).queuePage},
		{"GET", "/course/extensions", Teachers, false, (*request).extensionsPage},
		{"POST", "/course/extensions", Teachers, false, (*request).extend},
		{"POST", "/course/extensions/{id}/revoke", Teachers, false, (*request).unextend},
		{"GET", "/course/regrade", Teachers, false, (*request).regradePage},
		{"POST", "/course/regrade", Teachers, false, (*request).regradeStart},
		{"POST", "/course/regrade/apply", Admins, false, (*request).regradeApply},
		{"GET", "/course/people", Teachers, false, (*request).peoplePage},
		{"POST", "/course/people", Admins, false, (*request).invite},
		{"POST", "/course/people/{student}/sign-out", Admins, false, (*request).signOutOther},
		{"POST", "/course/people/{student}/dismiss", Admins, false, (*request).dismiss},

		{"GET", "/metrics", Teachers, false, (*request).metricsPage},
		{"GET", "/healthz", Anyone, false, (*request).health},
		{"GET", "/readyz", Anyone, false, (*request).readiness},
		{"GET", "/openapi.json", Anyone, false, (*request).openAPI},
		{"GET", "/static/{file}", Anyone, false, (*request).static},
		{"GET", "/favicon.ico", Anyone, false, (*request).icon},
	}
}

// uncounted reports whether a route counts against no limit, and asks for no person: a page
// brings these along, and they cost nothing.
func (r Route) uncounted() bool {
	return slices.Contains([]string{"/static/{file}", "/favicon.ico", "/healthz"}, r.Pattern)
}

// forToken reports whether a route is for command lines too, whose tokens last longer than a
// session and lie in files: they hand in and read.
func (r Route) forToken() bool {
	return r.Method == http.MethodGet || r.Pattern == "/{exercise}/attempts"
}

// polled reports whether a route is asked every other second by each who waits.
func (r Route) polled() bool { return r.Pattern == "/devices/{code}/token" }

// Reserved are names that no exercise of a course can have, because addresses of the site
// begin with them.
var Reserved = []string{"account", "course", "devices", "enter", "healthz", "metrics", "readyz", "static"}

// first returns the first segment of a route's pattern.
func (r Route) first() string {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.Pattern, "/"), "/")
	return first
}

// fallback sends a request to the site's own addresses or to those of exercises, and
// answers what no route does: an address that is none, or a method that it has not. One
// [http.ServeMux] for both cannot be: /enter/{link} and /{exercise}/board have addresses in
// common, and neither is a part of the other.
func (s *Site) fallback(own, exercises *http.ServeMux) http.Handler {
	ours := map[string]bool{"": true}
	for _, route := range Routes() {
		ours[route.first()] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		mux := exercises
		if ours[first] {
			mux = own
		}
		h, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		probe := &statusOnly{header: http.Header{}}
		h.ServeHTTP(probe, r)
		if probe.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", probe.header.Get("Allow"))
			s.turnAway(w, r, &Problem{Status: probe.status, Detail: r.Method + " does not apply to this address", Advice: "it takes " + probe.header.Get("Allow")})
			return
		}
		if to := probe.header.Get("Location"); to != "" { // a path that was not clean
			http.Redirect(w, r, to, http.StatusMovedPermanently)
			return
		}
		s.turnAway(w, r, notFound("there is no page at this address", "begin at the list of exercises"))
	})
}

// statusOnly remembers what a handler says, and drops its text.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header { return s.header }
func (s *statusOnly) WriteHeader(n int)   { s.status = n }
func (s *statusOnly) Write(p []byte) (int, error) {
	return len(p), nil
}
