package people

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"grade/service"
)

// Token is a command line's way in. Its secret is kept as a hash.
type Token struct {
	ID      string    `json:"id"` // to name it by when it is taken back
	Name    string    `json:"name"`
	Hash    string    `json:"hash"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
}

// tokenPrefix lets programs that look for secrets in repositories find one.
const tokenPrefix = "grade_"

// maxTokens is how many tokens a person can have; the oldest one goes for a new one.
const maxTokens = 20

// NewToken returns a token of a person, with a name to tell it from others.
func (d *Door) NewToken(ctx context.Context, p Person, name string) (token string, err error) {
	secret := newSecret()
	t := Token{ID: hashOf(secret)[:12], Name: name, Hash: hashOf(secret), Created: d.now(), Expires: d.now().Add(TokenLife)}
	err = d.editTokens(ctx, p.Login, func(list []Token) []Token {
		list = append(list, t)
		return list[max(0, len(list)-maxTokens):]
	})
	if err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	return tokenPrefix + encode(p.Login) + "." + secret, nil
}

// ByToken returns the person of a token. The error wraps [ErrUnknown], [ErrExpired] or
// [ErrStranger].
func (d *Door) ByToken(ctx context.Context, token string) (Person, error) {
	owner, secret, _ := strings.Cut(strings.TrimPrefix(token, tokenPrefix), ".")
	login, err := base64.RawURLEncoding.DecodeString(owner)
	if err != nil || secret == "" || !strings.HasPrefix(token, tokenPrefix) {
		return Person{}, fmt.Errorf("the token is %w", ErrUnknown)
	}
	list, err := d.Tokens(ctx, string(login))
	if err != nil {
		return Person{}, err
	}
	hash := hashOf(secret)
	i := slices.IndexFunc(list, func(t Token) bool { return subtle.ConstantTimeCompare([]byte(t.Hash), []byte(hash)) == 1 })
	switch {
	case i < 0:
		return Person{}, fmt.Errorf("the token is %w", ErrUnknown)
	case !d.now().Before(list[i].Expires):
		return Person{}, fmt.Errorf("the token has %w", ErrExpired)
	}
	return d.Person(ctx, string(login))
}

// Tokens lists the tokens of a person, the oldest first.
func (d *Door) Tokens(ctx context.Context, login string) (list []Token, err error) {
	err = d.read(ctx, keyTokens+encode(login), &list)
	if errors.Is(err, service.ErrNotFound) {
		return nil, nil
	}
	return list, err
}

// Revoke takes a token back. The error wraps [ErrUnknown] if the person has none of that ID.
func (d *Door) Revoke(ctx context.Context, login, id string) error {
	found := false
	err := d.editTokens(ctx, login, func(list []Token) []Token {
		n := len(list)
		list = slices.DeleteFunc(list, func(t Token) bool { return t.ID == id })
		found = len(list) < n
		return list
	})
	if err == nil && !found {
		err = fmt.Errorf("the token %s is %w", id, ErrUnknown)
	}
	return err
}

func (d *Door) editTokens(ctx context.Context, login string, change func([]Token) []Token) error {
	return editList(ctx, d, keyTokens+encode(login), change)
}
