package people

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// OIDCConfig says how people sign in with accounts that they have elsewhere.
type OIDCConfig struct {
	Issuer   string // such as https://accounts.google.com
	ClientID string
	Secret   string
	Redirect string // our address that the issuer sends people back to
	// Claim is what names a person in the roster: email, which has to be verified and is
	// looked for in the column Email, or another one, such as preferred_username, which is
	// the login.
	Claim string
}

// OIDC signs people in by OpenID Connect. The issuer is asked for its keys when the first
// person comes, so that a service starts while the issuer is away.
type OIDC struct {
	door     *Door
	config   OIDCConfig
	http     *http.Client
	provider atomic.Pointer[oidc.Provider] // nil: not asked yet
}

// NewOIDC returns a way to sign in. It does not ask the issuer yet.
func (d *Door) NewOIDC(c OIDCConfig) *OIDC {
	return &OIDC{door: d, config: c, http: &http.Client{Timeout: issuerTime}}
}

// purposeOIDC is the purpose of the cookie that is kept while a person is at the issuer.
const purposeOIDC = "oidc"

// journey is what a browser keeps while its person is at the issuer: without it, the link
// of another person's sign-in could be used to put them into this browser.
type journey struct{ State, Nonce, Verifier, Then string }

// Begin returns the issuer's address to send a browser to, and the cookie to give it. Then
// is the address to show afterwards.
func (o *OIDC) Begin(ctx context.Context, then string) (address, cookie string, err error) {
	client, _, err := o.client(ctx)
	if err != nil {
		return "", "", err
	}
	j := journey{newSecret(), newSecret(), oauth2.GenerateVerifier(), then}
	data, err := json.Marshal(j)
	if err != nil {
		return "", "", err
	}
	address = client.AuthCodeURL(j.State, oidc.Nonce(j.Nonce), oauth2.S256ChallengeOption(j.Verifier))
	return address, o.door.sign(purposeOIDC, base64.RawURLEncoding.EncodeToString(data)), nil
}

// Finish returns the person whom the issuer has sent back, and the address to show. The
// error wraps [ErrUnknown] if this browser did not begin it, and [ErrStranger] if the person
// is not in the course.
func (o *OIDC) Finish(ctx context.Context, cookie, state, code string) (p Person, then string, err error) {
	var j journey
	text, ok := o.door.signed(purposeOIDC, cookie)
	data, err := base64.RawURLEncoding.DecodeString(text)
	if !ok || err != nil || json.Unmarshal(data, &j) != nil || j.State != state {
		return p, "", fmt.Errorf("sign in: the way back is %w", ErrUnknown)
	}
	claims, err := o.claims(ctx, j, code)
	if err != nil {
		return p, "", fmt.Errorf("sign in: %w", err)
	}
	p, err = o.personOf(ctx, claims)
	return p, j.Then, err
}

// claims exchanges the code for what the issuer says of a person.
func (o *OIDC) claims(ctx context.Context, j journey, code string) (map[string]any, error) {
	client, provider, err := o.client(ctx)
	if err != nil {
		return nil, err
	}
	ctx = oidc.ClientContext(ctx, o.http)
	token, err := client.Exchange(ctx, code, oauth2.VerifierOption(j.Verifier))
	if err != nil {
		return nil, err
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, errors.New("the issuer sent no id_token")
	}
	id, err := provider.Verifier(&oidc.Config{ClientID: o.config.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	if id.Nonce != j.Nonce {
		return nil, errors.New("the issuer's answer belongs to another sign-in")
	}
	var claims map[string]any
	return claims, id.Claims(&claims)
}

// personOf finds the person of some claims. An address counts only if the issuer has
// verified it: a person may write any into their account. A login is one of the roster: those
// of people who were let in besides, as the first instructor, are names of ours, which
// another person may have at the issuer.
func (o *OIDC) personOf(ctx context.Context, claims map[string]any) (Person, error) {
	name, _ := claims[o.config.Claim].(string)
	if name == "" {
		return Person{}, fmt.Errorf("sign in: the issuer says no %s", o.config.Claim)
	}
	if o.config.Claim != "email" {
		p, ok := o.door.inRoster(name)
		if !ok {
			return Person{}, fmt.Errorf("%s is %w", name, ErrStranger)
		}
		return p, nil
	}
	if verified, _ := claims["email_verified"].(bool); !verified {
		return Person{}, fmt.Errorf("sign in: the address %s is %w", name, ErrUnverified)
	}
	return o.door.ByEmail(ctx, name)
}

// issuerTime is how long the issuer may take for an answer.
const issuerTime = 10 * time.Second

// client returns what talks to the issuer.
func (o *OIDC) client(ctx context.Context) (*oauth2.Config, *oidc.Provider, error) {
	p, err := o.asked(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("ask %s how people sign in: %w", o.config.Issuer, err)
	}
	return &oauth2.Config{
		ClientID: o.config.ClientID, ClientSecret: o.config.Secret, Endpoint: p.Endpoint(),
		RedirectURL: o.config.Redirect, Scopes: strings.Fields("openid profile email"),
	}, p, nil
}

// asked returns what the issuer says of itself. It holds no lock while it asks: one who waits
// for a silent issuer keeps no other waiting.
func (o *OIDC) asked(ctx context.Context) (*oidc.Provider, error) {
	if p := o.provider.Load(); p != nil {
		return p, nil
	}
	// The provider keeps its context for later requests for keys.
	p, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), o.http), o.config.Issuer)
	if err == nil {
		o.provider.Store(p)
	}
	return p, err
}
