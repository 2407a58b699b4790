package site

import (
	"net/http"
	"net/http/cookiejar"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/service/people"
	"grade/service/people/peopletest"
)

// A browser that follows the button comes back signed in, at the page it wanted; one that
// did not begin, or whose person is not in the course, is told so.
func TestSignInWithAnAccount(t *testing.T) {
	w := newWorld(t)
	i := peopletest.NewIssuer(t)
	w.site.OIDC = w.door.NewOIDC(people.OIDCConfig{Issuer: i.URL, ClientID: "grade", Secret: "s", Claim: "preferred_username", Redirect: w.server.URL + "/sign-in/oidc/callback"})
	w.site.Issuer = "Example"
	browser := func() *as {
		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		b := w.nobody()
		b.client = &http.Client{Jar: jar}
		return b
	}
	b := browser()
	wanted := b.get("/gears")
	assert.Equal(t, http.StatusUnauthorized, wanted.status)
	assert.Contains(t, wanted.body, `href="/sign-in/oidc?then=%2fgears"`)
	i.Claims = map[string]any{"preferred_username": "ada"}
	got := b.get("/sign-in/oidc?then=%2fgears")
	require.Equal(t, http.StatusOK, got.status, got.body)
	assert.Equal(t, "/gears", got.Request.URL.Path)
	assert.Contains(t, got.body, "Lovelace, Ada")
	assert.Contains(t, browser().get("/sign-in").body, "Sign in with Example")

	for _, away := range []string{"https://evil.example/", "//evil.example/", `/\evil.example`, "x"} {
		got := browser().get("/sign-in/oidc?then=" + away)
		assert.Equal(t, w.server.URL+"/", got.Request.URL.String(), "sends nobody elsewhere: %s", away)
	}
	assert.Equal(t, http.StatusBadRequest, browser().get("/sign-in/oidc/callback?code=good&state=x").status)
	i.Claims = map[string]any{"preferred_username": "eve"}
	unknown := browser().get("/sign-in/oidc")
	assert.Equal(t, http.StatusForbidden, unknown.status)
	assert.Contains(t, unknown.body, "known to Example, and not to this course")
	w.site.OIDC = w.door.NewOIDC(people.OIDCConfig{Issuer: i.URL, ClientID: "grade", Secret: "s", Claim: "email", Redirect: w.server.URL + "/sign-in/oidc/callback"})
	i.Claims = map[string]any{"email": "ada@example.org"}
	unverified := browser().get("/sign-in/oidc")
	assert.Equal(t, http.StatusForbidden, unverified.status)
	assert.Contains(t, unverified.body, "Example does not say that your address is verified")
	i.Forge = true
	assert.Equal(t, http.StatusBadGateway, browser().get("/sign-in/oidc").status)
}
