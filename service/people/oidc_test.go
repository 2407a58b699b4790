package people

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// issuer is an OpenID provider that knows one person, who always agrees.
type issuer struct {
	*testing.T
	server   *httptest.Server
	key      *rsa.PrivateKey
	claims   map[string]any // of the person
	nonce    string         // of the sign-in that is under way
	verifier string         // its challenge
	forge    bool           // sign with another key
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	i := &issuer{T: t, key: key, claims: map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		i.answer(w, map[string]any{"issuer": i.server.URL, "authorization_endpoint": i.server.URL + "/auth", "token_endpoint": i.server.URL + "/token", "jwks_uri": i.server.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		e := big.NewInt(int64(key.E)).Bytes()
		i.answer(w, map[string]any{"keys": []any{map[string]any{"kty": "RSA", "kid": "1", "use": "sig", "alg": "RS256", "n": encoded(key.N.Bytes()), "e": encoded(e)}}})
	})
	mux.HandleFunc("POST /token", i.token)
	i.server = httptest.NewServer(mux)
	t.Cleanup(i.server.Close)
	return i
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (i *issuer) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	assert.NoError(i, json.NewEncoder(w).Encode(v))
}

// token gives the identity for a code, to who began the sign-in.
func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if r.FormValue("code") != "good" || encoded(sum[:]) != i.verifier {
		w.WriteHeader(http.StatusBadRequest)
		i.answer(w, map[string]any{"error": "invalid_grant"})
		return
	}
	claims := map[string]any{"iss": i.server.URL, "aud": "grade", "sub": "1", "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(), "nonce": i.nonce}
	for k, v := range i.claims {
		claims[k] = v
	}
	i.answer(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": i.signed(claims)})
}

func (i *issuer) signed(claims map[string]any) string {
	body, err := json.Marshal(claims)
	require.NoError(i, err)
	text := encoded([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + encoded(body)
	sum := sha256.Sum256([]byte(text))
	key := i.key
	if i.forge {
		key, err = rsa.GenerateKey(rand.Reader, 2048)
		require.NoError(i, err)
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	require.NoError(i, err)
	return text + "." + encoded(signature)
}

// began begins a sign-in, and returns its state and cookie.
func (i *issuer) began(o *OIDC) (state, cookie string) {
	i.Helper()
	address, cookie, err := o.Begin(i.Context(), "/gears")
	require.NoError(i, err)
	u, err := url.Parse(address)
	require.NoError(i, err)
	query := u.Query()
	assert.Equal(i, "S256", query.Get("code_challenge_method"))
	i.nonce, i.verifier = query.Get("nonce"), query.Get("code_challenge")
	return query.Get("state"), cookie
}

func TestOIDC(t *testing.T) {
	d, _ := opened(t)
	i := newIssuer(t)
	o := d.NewOIDC(OIDCConfig{Issuer: i.server.URL, ClientID: "grade", Secret: "s", Redirect: "https://grade.example.org/sign-in/oidc/callback", Claim: "email"})
	i.claims = map[string]any{"email": "Ada@example.org", "email_verified": true}
	state, cookie := i.began(o)
	p, then, err := o.Finish(t.Context(), cookie, state, "good")
	require.NoError(t, err)
	assert.Equal(t, "ada", p.Login)
	assert.Equal(t, "/gears", then)

	for name, refuse := range map[string]func() (cookie, state, code string){
		"another browser":     func() (string, string, string) { s, _ := i.began(o); return "", s, "good" },
		"another's state":     func() (string, string, string) { _, c := i.began(o); return c, "x", "good" },
		"another's journey":   func() (string, string, string) { s, _ := i.began(o); _, c := i.began(o); return c, s, "good" },
		"a cookie of our own": func() (string, string, string) { s, _ := i.began(o); return d.sign(purposeSession, s), s, "good" },
		"a wrong code":        func() (string, string, string) { s, c := i.began(o); return c, s, "bad" },
		"a wrong nonce":       func() (string, string, string) { s, c := i.began(o); i.nonce = "x"; return c, s, "good" },
		"a forged signature":  func() (string, string, string) { s, c := i.began(o); i.forge = true; return c, s, "good" },
		"an unverified address": func() (string, string, string) {
			s, c := i.began(o)
			i.claims["email_verified"] = false
			return c, s, "good"
		},
		"an unknown person": func() (string, string, string) {
			s, c := i.began(o)
			i.claims = map[string]any{"email": "eve@example.org", "email_verified": true}
			return c, s, "good"
		},
		"no address": func() (string, string, string) { s, c := i.began(o); i.claims = map[string]any{}; return c, s, "good" },
	} {
		i.forge, i.claims = false, map[string]any{"email": "ada@example.org", "email_verified": true}
		cookie, state, code := refuse()
		_, _, err := o.Finish(t.Context(), cookie, state, code)
		assert.Error(t, err, name)
	}

	i.forge, i.claims = false, map[string]any{"preferred_username": "grace", "email": "ada@example.org"}
	byLogin := d.NewOIDC(OIDCConfig{Issuer: i.server.URL, ClientID: "grade", Claim: "preferred_username"})
	state, cookie = i.began(byLogin)
	p, _, err = byLogin.Finish(t.Context(), cookie, state, "good")
	require.NoError(t, err)
	assert.Equal(t, "grace", p.Login)
}

// An issuer that is away keeps no service from starting, and is asked again.
func TestIssuerAway(t *testing.T) {
	d, _ := opened(t)
	i := newIssuer(t)
	o := d.NewOIDC(OIDCConfig{Issuer: i.server.URL + "/nowhere", ClientID: "grade", Claim: "email"})
	_, _, err := o.Begin(t.Context(), "/")
	require.ErrorContains(t, err, "ask "+i.server.URL)
}
