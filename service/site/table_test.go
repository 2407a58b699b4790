package site

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// roles are who may ask: a worker has credentials for the engine, and none here.
var roles = []string{"nobody", "student", "other", "staff", "admin", "worker"}

// row says what each role gets at an address, in the order of roles.
type row struct {
	address func(*world) string
	form    url.Values
	upload  bool
	want    [6]int
}

// at is a row whose address is always the same.
func at(address string, want ...int) row {
	return row{address: func(*world) string { return address }, want: [6]int(want)}
}

// with is a row with a form.
func (r row) with(form ...string) row {
	r.form = url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		r.form.Set(form[i], form[i+1])
	}
	return r
}

// table has a row for each route. A new one without a row fails the test.
var table = map[string]row{
	"GET /{$}":                                 at("/", 401, 200, 200, 200, 200, 401),
	"GET /{exercise}":                          at("/gears", 401, 200, 200, 200, 200, 401),
	"GET /{exercise}/starter.zip":              at("/gears/starter.zip", 401, 200, 200, 200, 200, 401),
	"GET /{exercise}/board":                    at("/gears/board", 401, 200, 200, 200, 200, 401),
	"POST /{exercise}/attempts":                {address: func(*world) string { return "/gears/attempts" }, upload: true, want: [6]int{401, 303, 303, 303, 303, 401}},
	"GET /{exercise}/attempts/{number}":        at("/gears/attempts/2", 401, 200, 404, 404, 404, 401),
	"GET /{exercise}/attempts/{number}/events": at("/gears/attempts/2/events", 401, 200, 404, 404, 404, 401),
	"GET /{exercise}/attempts/{number}/source": at("/gears/attempts/2/source", 401, 200, 404, 404, 404, 401),
	"GET /account":                             at("/account", 401, 200, 200, 200, 200, 401),
	"POST /account/name":                       at("/account/name", 401, 303, 303, 303, 303, 401).with("name", ""),
	"POST /account/tokens/{id}/revoke":         at("/account/tokens/none/revoke", 401, 404, 404, 404, 404, 401),
	"POST /sign-out":                           at("/sign-out", 401, 303, 303, 303, 303, 401),
	"GET /sign-in":                             at("/sign-in", 200, 303, 303, 303, 303, 200),
	"GET /sign-in/oidc":                        at("/sign-in/oidc", 404, 404, 404, 404, 404, 404),
	"GET /sign-in/oidc/callback":               at("/sign-in/oidc/callback", 404, 404, 404, 404, 404, 404),
	"GET /enter/{link}":                        {address: func(w *world) string { return "/enter/" + w.invitation("bo") }, want: [6]int{200, 200, 200, 200, 200, 200}},
	"POST /enter/{link}":                       {address: func(w *world) string { return "/enter/" + w.invitation("bo") }, want: [6]int{303, 303, 303, 303, 303, 303}},
	"POST /devices":                            at("/devices", 201, 201, 201, 201, 201, 201),
	"GET /devices/{code}":                      {address: (*world).code, want: [6]int{401, 200, 200, 200, 200, 401}},
	"POST /devices/{code}":                     {address: (*world).code, want: [6]int{401, 200, 200, 200, 200, 401}},
	"POST /devices/{code}/token":               {address: func(w *world) string { return w.code() + "/token" }, want: [6]int{404, 404, 404, 404, 404, 404}}, // without the secret
	"GET /course":                              at("/course", 401, 403, 403, 200, 200, 401),
	"GET /course/gradebook/{format}":           at("/course/gradebook/csv", 401, 403, 403, 200, 200, 401),
	"GET /course/students/{student}":           at("/course/students/ada", 401, 403, 403, 200, 200, 401),
	"GET /course/students/{student}/{exercise}/attempts/{number}":        at("/course/students/ada/gears/attempts/2", 401, 403, 403, 200, 200, 401),
	"GET /course/students/{student}/{exercise}/attempts/{number}/events": at("/course/students/ada/gears/attempts/2/events", 401, 403, 403, 200, 200, 401),
	"GET /course/students/{student}/{exercise}/attempts/{number}/source": at("/course/students/ada/gears/attempts/2/source", 401, 403, 403, 200, 200, 401),
	"POST /course/students/{student}/{exercise}/attempts/{number}/retry": at("/course/students/ada/gears/attempts/2/retry", 401, 403, 403, 409, 409, 401), // it has a verdict
	"GET /course/exercises/{exercise}":                                   at("/course/exercises/gears", 401, 403, 403, 200, 200, 401),
	"GET /course/queue":                                                  at("/course/queue", 401, 403, 403, 200, 200, 401),
	"GET /course/extensions":                                             at("/course/extensions", 401, 403, 403, 200, 200, 401),
	"POST /course/extensions":                                            at("/course/extensions", 401, 403, 403, 303, 303, 401).with("student", "ada", "due", "2030-01-01T00:00"),
	"POST /course/extensions/{id}/revoke":                                at("/course/extensions/none/revoke", 401, 403, 403, 404, 404, 401),
	"GET /course/regrade":                                                at("/course/regrade", 401, 403, 403, 200, 200, 401),
	"POST /course/regrade":                                               at("/course/regrade", 401, 403, 403, 409, 409, 401), // nothing here can grade
	"POST /course/regrade/apply":                                         at("/course/regrade/apply", 401, 403, 403, 403, 409, 401),
	"GET /course/people":                                                 at("/course/people", 401, 403, 403, 200, 200, 401),
	"POST /course/people":                                                at("/course/people", 401, 403, 403, 403, 200, 401).with("logins", "bo"),
	"POST /course/people/{student}/sign-out":                             at("/course/people/none/sign-out", 401, 403, 403, 403, 404, 401),
	"POST /course/people/{student}/dismiss":                              at("/course/people/ada/dismiss", 401, 403, 403, 403, 409, 401), // in the roster
	"GET /metrics":                                                       at("/metrics", 401, 403, 403, 200, 200, 401),
	"GET /healthz":                                                       at("/healthz", 200, 200, 200, 200, 200, 200),
	"GET /readyz":                                                        at("/readyz", 200, 200, 200, 200, 200, 200),
	"GET /openapi.json":                                                  at("/openapi.json", 200, 200, 200, 200, 200, 200),
	"GET /static/{file}":                                                 at(assetNames["site.css"], 200, 200, 200, 200, 200, 200),
	"GET /favicon.ico":                                                   at("/favicon.ico", 200, 200, 200, 200, 200, 200),
}

// code is the address of a command line that asks for a token.
func (w *world) code() string {
	code, _, err := w.door.Ask(w.Context(), "a laptop")
	require.NoError(w, err)
	return "/devices/" + code
}

// browser returns a browser, or a worker with what it has for the engine.
func (w *world) browser(role string) *as {
	w.Helper()
	login := map[string]string{"student": "ada", "other": "bo", "staff": "grace", "admin": "root"}[role]
	if login != "" {
		return w.signedIn(login)
	}
	b := w.nobody()
	if role == "worker" {
		b.token = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
	}
	return b
}

func TestTableOfAccess(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	for i, text := range []string{"one", "two"} {
		require.Equal(t, http.StatusSeeOther, w.signedIn("ada").handIn(gears, solution(text)).status)
		w.graded("ada", i+1)
	}
	seen := map[string]bool{}
	for _, route := range Routes() {
		name := route.Method + " " + route.Pattern
		r, ok := table[name]
		if seen[name] = true; !ok {
			t.Errorf("%s has no row in the table of this test: say who may use it", name)
			continue
		}
		for i, role := range roles {
			w.wait(time.Minute) // the limits are another test
			b := w.browser(role)
			address := r.address(w)
			got := b.send(route.Method, address, r)
			assert.Equal(t, r.want[i], got.status, "%s as %s: %s", name, role, got.body)
			b.headers(name, got)
		}
	}
	for name := range table {
		assert.True(t, seen[name], "the table has a row for %s, and there is no such route", name)
	}
}

func (b *as) send(method, address string, r row) answer {
	b.Helper()
	switch {
	case r.upload:
		return b.handIn(gears, solution("one"))
	case method == http.MethodPost:
		return b.post(address, r.form)
	}
	return b.get(address)
}

// headers holds what every answer has to say.
func (b *as) headers(name string, got answer) {
	b.Helper()
	assert.Equal(b, contentPolicy, got.Header.Get("Content-Security-Policy"), name)
	assert.Equal(b, "nosniff", got.Header.Get("X-Content-Type-Options"), name)
	assert.NotEmpty(b, got.Header.Get("Cache-Control"), name)
	if strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") {
		assert.NotContains(b, got.body, "<style", name)
		assert.NotContains(b, got.body, " style=", name)
		assert.NotContains(b, got.body, "onclick", name)
	}
}

// A method that an address does not have is told so, whoever asks.
func TestOtherMethods(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	methods := map[string][]string{}
	for _, route := range Routes() {
		methods[route.Pattern] = append(methods[route.Pattern], route.Method)
	}
	for _, role := range []string{"nobody", "student", "admin"} {
		b := w.browser(role)
		for pattern, allowed := range methods {
			address := table[allowed[0]+" "+pattern].address(w)
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
				if strings.Contains(strings.Join(allowed, " "), method) {
					continue
				}
				w.wait(time.Minute)
				got := b.do(method, address, "", nil)
				assert.Equal(t, http.StatusMethodNotAllowed, got.status, "%s %s as %s", method, pattern, role)
				assert.Contains(t, got.Header.Get("Allow"), allowed[0], pattern)
			}
		}
	}
}

// The names that addresses of the site begin with are reserved, so that no exercise hides
// behind one.
func TestReservedNames(t *testing.T) {
	for _, route := range Routes() {
		if first := route.first(); strings.Trim(first, "abcdefghijklmnopqrstuvwxyz0123456789") == "" && first != "" {
			assert.Contains(t, Reserved, first)
		}
	}
}
