// Package peopletest provides tests with an account elsewhere: an OpenID provider.
package peopletest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Issuer is an OpenID provider that knows one person, who always agrees. It speaks the real
// protocol, with real signatures.
type Issuer struct {
	*testing.T
	URL       string
	Claims    map[string]any // of the person
	Nonce     string         // of the sign-in that is under way
	Challenge string         // of its verifier
	Forge     bool           // sign with another key
	key       *rsa.PrivateKey
}

// NewIssuer starts an issuer, which ends with the test.
func NewIssuer(t *testing.T) *Issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	i := &Issuer{T: t, key: key, Claims: map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		i.answer(w, map[string]any{"issuer": i.URL, "authorization_endpoint": i.URL + "/auth", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		e := big.NewInt(int64(key.E)).Bytes()
		i.answer(w, map[string]any{"keys": []any{map[string]any{"kty": "RSA", "kid": "1", "use": "sig", "alg": "RS256", "n": encoded(key.N.Bytes()), "e": encoded(e)}}})
	})
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /auth", func(w http.ResponseWriter, r *http.Request) {
		i.Begun(r.URL.Query())
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?"+url.Values{"code": {"good"}, "state": {r.FormValue("state")}}.Encode(), http.StatusSeeOther)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	i.URL = server.URL
	return i
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (i *Issuer) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	assert.NoError(i, json.NewEncoder(w).Encode(v))
}

// Begun notes what a sign-in has asked for.
func (i *Issuer) Begun(query url.Values) {
	assert.Equal(i, "S256", query.Get("code_challenge_method"))
	i.Nonce, i.Challenge = query.Get("nonce"), query.Get("code_challenge")
}

// token gives the identity for a code, to who began the sign-in.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if r.FormValue("code") != "good" || encoded(sum[:]) != i.Challenge {
		w.WriteHeader(http.StatusBadRequest)
		i.answer(w, map[string]any{"error": "invalid_grant"})
		return
	}
	claims := map[string]any{"iss": i.URL, "aud": "grade", "sub": "1", "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(), "nonce": i.Nonce}
	maps.Copy(claims, i.Claims)
	i.answer(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": i.signed(claims)})
}

func (i *Issuer) signed(claims map[string]any) string {
	body, err := json.Marshal(claims)
	require.NoError(i, err)
	text := encoded([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + encoded(body)
	sum := sha256.Sum256([]byte(text))
	key := i.key
	if i.Forge {
		key, err = rsa.GenerateKey(rand.Reader, 2048)
		require.NoError(i, err)
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	require.NoError(i, err)
	return text + "." + encoded(signature)
}
