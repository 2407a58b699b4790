package site

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/service"
	"grade/service/people"
)

// A page of another site cannot post here in the name of a person who is signed in.
func TestCrossOrigin(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn("root")
	for name, headers := range map[string][]string{
		"another site":    {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
		"a sibling":       {"Sec-Fetch-Site", "same-site", "Origin", "https://other.example.org"},
		"an older client": {"Origin", "https://evil.example"},
		"no origin":       {"Origin", "null"},
	} {
		for _, route := range Routes() {
			if route.Method != http.MethodPost {
				continue
			}
			w.wait(time.Minute)
			address := table["POST "+route.Pattern].address(w)
			got := b.do("POST", address, "application/x-www-form-urlencoded", strings.NewReader("logins=eve&role=admin"), headers...)
			assert.Equal(t, http.StatusForbidden, got.status, "%s: %s", name, route.Pattern)
		}
	}
	_, err := w.door.Person(t.Context(), "eve")
	assert.ErrorIs(t, err, people.ErrStranger)
	own := b.do("POST", "/account/name", "application/x-www-form-urlencoded", strings.NewReader("name=x"), "Sec-Fetch-Site", "same-origin", "Origin", w.server.URL)
	assert.Equal(t, http.StatusSeeOther, own.status)
}

// A session that was put into a browser before its person signs in is not theirs afterwards.
func TestFixedSession(t *testing.T) {
	w := newWorld(t)
	attacker := w.signedIn("bo")
	victim := w.nobody()
	victim.session = attacker.session
	got := victim.post("/enter/"+w.invitation("ada"), nil)
	require.Equal(t, http.StatusSeeOther, got.status)
	own := got.cookie("grade-session")
	require.NotNil(t, own)
	assert.NotEqual(t, attacker.session.Value, own.Value)
	assert.True(t, own.HttpOnly)
	assert.Equal(t, http.SameSiteLaxMode, own.SameSite)
	assert.Empty(t, own.Domain, "the cookie is this host's alone")
	assert.Equal(t, http.StatusUnauthorized, attacker.get("/").status, "the older session has ended")
	made := w.nobody()
	made.session = &http.Cookie{Name: "grade-session", Value: "fixed.AAAA"}
	assert.Equal(t, http.StatusUnauthorized, made.get("/").status)
}

// A link lets in once, whoever is faster, and says afterwards what became of it.
func TestLinks(t *testing.T) {
	w := newWorld(t)
	link := "/enter/" + w.invitation("ada")
	preview := w.nobody().get(link)
	assert.Equal(t, http.StatusOK, preview.status)
	assert.Contains(t, preview.body, "Lovelace, Ada")
	assert.Nil(t, preview.cookie("grade-session"), "a preview signs nobody in")
	var let int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		b := w.nobody()
		all.Go(func() {
			got := b.post(link, nil)
			mu.Lock()
			defer mu.Unlock()
			if got.status == http.StatusSeeOther {
				let++
			} else {
				assert.Equal(t, http.StatusGone, got.status)
			}
		})
	}
	all.Wait()
	assert.Equal(t, 1, let)
	used := w.nobody().get(link)
	assert.Equal(t, http.StatusGone, used.status)
	assert.Contains(t, used.body, "used already")
	old := "/enter/" + w.invitation("ada")
	w.wait(people.InvitationLife)
	assert.Contains(t, w.nobody().get(old).body, "has expired")
	assert.Equal(t, http.StatusGone, w.nobody().post(old, nil).status)
	assert.Equal(t, http.StatusNotFound, w.nobody().get("/enter/wrong").status)
}

// Tokens work until they end or are taken back, and a command line gets one only for a
// code that its person has allowed.
func TestTokens(t *testing.T) {
	w := newWorld(t)
	ada := w.signedIn("ada")
	wish := decode[asked](t, w.nobody().json().post("/devices", url.Values{"name": {"a laptop"}}))
	collect := func(secret string) answer {
		return w.nobody().json().post("/devices/"+wish.Code+"/token", url.Values{"secret": {secret}})
	}
	assert.Equal(t, http.StatusAccepted, collect(wish.Secret).status)
	assert.Contains(t, ada.get("/devices/"+wish.Code).body, "a laptop")
	assert.Equal(t, http.StatusOK, ada.post("/devices/"+wish.Code, nil).status)
	assert.Equal(t, http.StatusGone, ada.post("/devices/"+wish.Code, nil).status, "approved once")
	assert.Equal(t, http.StatusNotFound, collect("wrong").status)
	token := decode[map[string]string](t, collect(wish.Secret))["token"]
	require.NotEmpty(t, token)
	assert.Equal(t, http.StatusGone, collect(wish.Secret).status, "collected once")
	line := w.nobody().json()
	line.token = token
	assert.Equal(t, "ada", decode[homeView](t, line.get("/")).Person.Login)
	view := decode[accountView](t, ada.json().get("/account"))
	require.Len(t, view.Tokens, 1)
	assert.Empty(t, view.Tokens[0].Hash)
	assert.Equal(t, http.StatusNotFound, w.signedIn("bo").post("/account/tokens/"+view.Tokens[0].ID+"/revoke", nil).status, "another's")
	other, err := w.door.NewToken(t.Context(), people.Person{Login: "bo"}, "x")
	require.NoError(t, err)
	assert.Equal(t, http.StatusSeeOther, ada.post("/account/tokens/"+view.Tokens[0].ID+"/revoke", nil).status)
	gone := line.get("/")
	assert.Equal(t, http.StatusUnauthorized, gone.status)
	assert.Contains(t, gone.body, "grade login")
	line.token = other
	assert.Equal(t, http.StatusOK, line.get("/").status)
	w.wait(people.TokenLife)
	assert.Equal(t, http.StatusUnauthorized, line.get("/").status, "a token ends")
}

// A token reads what its person may read and hands in, and does nothing else: it lies in a file
// for half a year.
func TestTokensChangeNothing(t *testing.T) {
	w := newWorld(t)
	line := w.nobody().json()
	var err error
	line.token, err = w.door.NewToken(t.Context(), people.Person{Login: "root"}, "x")
	require.NoError(t, err)
	for _, route := range Routes() {
		address := strings.NewReplacer("{student}", "ada", "{exercise}", gears, "{number}", "1", "{id}", "x", "{code}", "XXXX-XXXX").Replace(route.Pattern)
		switch {
		case route.Method == http.MethodGet || route.For == Anyone:
		case strings.HasSuffix(address, "/attempts"):
			assert.Equal(t, http.StatusCreated, line.handIn(gears, solution("x")).status)
		default:
			got := line.post(address, nil)
			assert.Equal(t, http.StatusForbidden, got.status, address)
			assert.Contains(t, got.body, "a token hands in and reads", address)
		}
	}
	assert.Equal(t, http.StatusOK, line.get("/course").status)
}

// A class that types grade login asks for its tokens at once, and locks nobody out.
func TestClassOfCommandLines(t *testing.T) {
	w := newWorld(t)
	wish := decode[asked](t, w.nobody().json().post("/devices", url.Values{"name": {"a laptop"}}))
	for range 1000 {
		got := w.nobody().json().post("/devices/"+wish.Code+"/token", url.Values{"secret": {wish.Secret}})
		require.Equal(t, http.StatusAccepted, got.status)
	}
	assert.Equal(t, http.StatusOK, w.nobody().get("/sign-in").status, "behind the same address")
}

// A link that lets in is in no log, not even when something is wrong here.
func TestLinksAreNotLogged(t *testing.T) {
	w := newWorld(t)
	link := w.invitation("ada")
	var log bytes.Buffer
	w.site.Log = slog.New(slog.NewTextHandler(&log, nil))
	w.engine.Close()
	got := w.nobody().get("/enter/" + link)
	assert.GreaterOrEqual(t, got.status, http.StatusInternalServerError)
	assert.Contains(t, log.String(), "/enter/{link}")
	assert.NotContains(t, log.String(), link)
}

// Who is taken out of the roster is out at once, and a role that changes changes at once.
func TestRosterIsAskedEachTime(t *testing.T) {
	w := newWorld(t)
	grace := w.signedIn("grace")
	assert.Equal(t, http.StatusOK, grace.get("/course").status)
	w.door.SetRoster([]people.Person{{Login: "grace", Name: "Grace", Role: people.Student}})
	assert.Equal(t, http.StatusForbidden, grace.get("/course").status)
	w.door.SetRoster(nil)
	assert.Equal(t, http.StatusUnauthorized, grace.get("/").status)
}

// Who asks too often waits, and no other person does.
func TestLimits(t *testing.T) {
	w := newWorld(t)
	ada, bo := w.signedIn("ada").json(), w.signedIn("bo").json()
	var last answer
	for range 61 {
		last = ada.handIn(gears, solution("x"))
	}
	assert.Equal(t, http.StatusTooManyRequests, last.status)
	assert.NotEmpty(t, last.Header.Get("Retry-After"))
	assert.Equal(t, http.StatusCreated, bo.handIn(gears, solution("y")).status)
	for range 21 {
		last = w.nobody().get("/enter/guess")
	}
	assert.Equal(t, http.StatusTooManyRequests, last.status, "guessing links")
	assert.Equal(t, http.StatusOK, bo.get("/").status, "behind the same address")
	w.wait(10 * time.Minute)
	assert.Equal(t, http.StatusNotFound, w.nobody().get("/enter/guess").status)
	assert.Equal(t, http.StatusCreated, ada.handIn(gears, solution("z")).status)
}

// A person may not fill the disk: what is kept of a submission stays for good. Hand-ins count,
// whether they are new or not.
func TestAttemptsOfADay(t *testing.T) {
	w := newWorld(t)
	ada := w.signedIn("ada").json()
	for range 6 {
		for range 50 {
			require.Equal(t, http.StatusCreated, ada.handIn(gears, solution("x")).status)
		}
		w.wait(100 * time.Second)
	}
	for range 3 { // those of ten minutes
		require.Equal(t, http.StatusCreated, ada.handIn(gears, solution("x")).status)
	}
	assert.Equal(t, http.StatusTooManyRequests, ada.handIn(gears, solution("x")).status)
	w.wait(3 * time.Minute)
	assert.Equal(t, http.StatusCreated, ada.handIn(gears, solution("x")).status)
}

// Addresses that lead nowhere, and methods that do not apply, count as any request of a stranger.
func TestStrangersAtNoAddress(t *testing.T) {
	w := newWorld(t)
	stranger := w.nobody()
	for range 500 {
		require.Equal(t, http.StatusNotFound, stranger.get("/a/b/c").status)
		require.Equal(t, http.StatusMethodNotAllowed, stranger.post("/healthz", nil).status)
	}
	refused := stranger.get("/a/b/c")
	assert.Equal(t, http.StatusTooManyRequests, refused.status)
	assert.NotContains(t, refused.body, "<html", "a page would cost what the limit is to save")
	assert.Contains(t, refused.body, "try again in 1 s")
}

// A class signs in at once behind one address, with cookies from before a restore too; what a
// page brings along counts for nothing.
func TestClassBehindOneAddress(t *testing.T) {
	w := newWorld(t)
	stale := w.nobody()
	stale.session = &http.Cookie{Name: "grade-session", Value: "of.old"}
	for range 600 {
		require.Equal(t, http.StatusOK, stale.get("/sign-in").status)
	}
	for range 400 {
		stale.get("/")
	}
	assert.Equal(t, http.StatusTooManyRequests, stale.get("/").status)
	for _, address := range []string{"/healthz", "/favicon.ico"} {
		assert.Equal(t, http.StatusOK, stale.get(address).status, address)
	}
}

// A program is told where it would be sent on to.
func TestSignInAsAProgram(t *testing.T) {
	w := newWorld(t)
	got := w.nobody().json().post("/enter/"+w.invitation("ada"), nil)
	assert.Equal(t, http.StatusOK, got.status)
	ada := w.nobody().json()
	ada.session = got.cookie("grade-session")
	assert.JSONEq(t, `{"address": "/"}`, ada.get("/sign-in").body)
	assert.JSONEq(t, `{"address": "/sign-in"}`, ada.post("/sign-out", nil).body)
	assert.Equal(t, http.StatusUnauthorized, ada.get("/").status)
}

// The exact figures of hidden tests are staff's.
func TestStudentsGetNoClock(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	ada := w.signedIn("ada").json()
	require.Equal(t, http.StatusCreated, ada.handIn(gears, solution("x")).status)
	w.graded("ada", 1)
	for _, address := range []string{"/gears/attempts/1", "/gears/attempts/1/events", "/gears"} {
		assert.NotContains(t, ada.get(address).body, "1.23456", address)
	}
	assert.Contains(t, w.signedIn("grace").json().get("/course/students/ada/gears/attempts/1").body, "1.23456")
}

// What another student has handed in has no address for a student: numbers are one's own.
func TestOtherPeoplesAttempts(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	require.Equal(t, http.StatusSeeOther, w.signedIn("ada").handIn(gears, solution("secret of ada")).status)
	w.graded("ada", 1)
	bo := w.signedIn("bo")
	for _, address := range []string{"/gears/attempts/1", "/gears/attempts/1/source", "/gears/attempts/1/events", "/gears/attempts/0", "/gears/attempts/-1", "/gears/attempts/x"} {
		got := bo.get(address)
		assert.Equal(t, http.StatusNotFound, got.status, address)
		assert.NotContains(t, got.body, "secret of ada")
	}
	assert.Equal(t, http.StatusForbidden, bo.get("/course/students/ada/gears/attempts/1/source").status)
	assert.Contains(t, w.signedIn("grace").get("/course/students/ada/gears/attempts/1/source").body, "secret of ada")
}

// A student who finds the disk full is told so, and that it is no fault of theirs.
func TestFullDiskIsTold(t *testing.T) {
	p, ours := problemOf(fmt.Errorf("keep a submission: %w", service.ErrFull))
	assert.Equal(t, http.StatusServiceUnavailable, p.Status)
	assert.Contains(t, p.Detail, "no room")
	assert.Contains(t, p.Advice, "staff")
	assert.True(t, ours, "it is logged")
}
