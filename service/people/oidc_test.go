package people

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/service/people/peopletest"
)

// began begins a sign-in, and returns its state and cookie.
func began(i *peopletest.Issuer, o *OIDC) (state, cookie string) {
	i.Helper()
	address, cookie, err := o.Begin(i.Context(), "/gears")
	require.NoError(i, err)
	u, err := url.Parse(address)
	require.NoError(i, err)
	i.Begun(u.Query())
	return u.Query().Get("state"), cookie
}

func TestOIDC(t *testing.T) {
	d, _ := opened(t)
	i := peopletest.NewIssuer(t)
	o := d.NewOIDC(OIDCConfig{Issuer: i.URL, ClientID: "grade", Secret: "s", Redirect: "https://grade.example.org/sign-in/oidc/callback", Claim: "email"})
	i.Claims = map[string]any{"email": "Ada@example.org", "email_verified": true}
	state, cookie := began(i, o)
	p, then, err := o.Finish(t.Context(), cookie, state, "good")
	require.NoError(t, err)
	assert.Equal(t, "ada", p.Login)
	assert.Equal(t, "/gears", then)

	for name, refuse := range map[string]func() (cookie, state, code string){
		"another browser":     func() (string, string, string) { s, _ := began(i, o); return "", s, "good" },
		"another's state":     func() (string, string, string) { _, c := began(i, o); return c, "x", "good" },
		"another's journey":   func() (string, string, string) { s, _ := began(i, o); _, c := began(i, o); return c, s, "good" },
		"a cookie of our own": func() (string, string, string) { s, _ := began(i, o); return d.sign(purposeSession, s), s, "good" },
		"a wrong code":        func() (string, string, string) { s, c := began(i, o); return c, s, "bad" },
		"a wrong nonce":       func() (string, string, string) { s, c := began(i, o); i.Nonce = "x"; return c, s, "good" },
		"a forged signature":  func() (string, string, string) { s, c := began(i, o); i.Forge = true; return c, s, "good" },
		"an unverified address": func() (string, string, string) {
			s, c := began(i, o)
			i.Claims["email_verified"] = false
			return c, s, "good"
		},
		"an unknown person": func() (string, string, string) {
			s, c := began(i, o)
			i.Claims = map[string]any{"email": "eve@example.org", "email_verified": true}
			return c, s, "good"
		},
		"no address": func() (string, string, string) { s, c := began(i, o); i.Claims = map[string]any{}; return c, s, "good" },
	} {
		i.Forge, i.Claims = false, map[string]any{"email": "ada@example.org", "email_verified": true}
		cookie, state, code := refuse()
		_, _, err := o.Finish(t.Context(), cookie, state, code)
		assert.Error(t, err, name)
	}

	i.Forge, i.Claims = false, map[string]any{"preferred_username": "grace", "email": "ada@example.org"}
	byLogin := d.NewOIDC(OIDCConfig{Issuer: i.URL, ClientID: "grade", Claim: "preferred_username"})
	state, cookie = began(i, byLogin)
	p, _, err = byLogin.Finish(t.Context(), cookie, state, "good")
	require.NoError(t, err)
	assert.Equal(t, "grace", p.Login)

	require.NoError(t, d.Admit(t.Context(), Person{Login: "instructor", Name: "instructor", Role: Admin}))
	i.Claims = map[string]any{"preferred_username": "instructor"}
	state, cookie = began(i, byLogin)
	_, _, err = byLogin.Finish(t.Context(), cookie, state, "good")
	require.ErrorIs(t, err, ErrStranger, "an account of the name of the first admin, who is in no roster")
}

// An issuer that is away keeps no service from starting, and is asked again.
func TestIssuerAway(t *testing.T) {
	d, _ := opened(t)
	i := peopletest.NewIssuer(t)
	o := d.NewOIDC(OIDCConfig{Issuer: i.URL + "/nowhere", ClientID: "grade", Claim: "email"})
	_, _, err := o.Begin(t.Context(), "/")
	require.ErrorContains(t, err, "ask "+i.URL)
}

// An issuer that takes a request and does not answer keeps those who come later from nothing.
func TestSilentIssuer(t *testing.T) {
	d, _ := opened(t)
	came, leave := make(chan struct{}, 2), make(chan struct{})
	issuer := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		came <- struct{}{}
		<-leave
	}))
	defer issuer.Close()
	o := d.NewOIDC(OIDCConfig{Issuer: issuer.URL, ClientID: "grade", Claim: "email"})
	require.Equal(t, issuerTime, o.http.Timeout)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { _, _, _ = o.Begin(t.Context(), "/") })
	}
	<-came
	<-came // the second one has asked, too
	close(leave)
	both.Wait()
}
