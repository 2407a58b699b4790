package people

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"grade/service"
)

// request is a command line that asks for a token: it shows a code, which a signed-in
// person approves in a browser. A token is then given to the holder of the secret, once.
type request struct {
	Hash     string    `json:"hash"`
	Name     string    `json:"name"`               // of the machine, as it says itself
	Approved string    `json:"approved,omitempty"` // a login
	Expires  time.Time `json:"expires"`
}

// codeLetters are letters and digits that are not mistaken for each other.
const codeLetters = "BCDFGHJKLMNPQRSTVWXZ23456789"

// Ask begins a request, and returns the code that a person approves and the secret that
// the token is given for.
func (d *Door) Ask(ctx context.Context, name string) (code, secret string, err error) {
	secret = newSecret()
	b := make([]byte, 8)
	_, _ = rand.Read(b)
	for i := range b {
		b[i] = codeLetters[int(b[i])%len(codeLetters)]
	}
	code = string(b[:4]) + "-" + string(b[4:])
	data, err := json.Marshal(request{Hash: hashOf(secret), Name: name, Expires: d.now().Add(RequestLife)})
	if err != nil {
		return "", "", err
	}
	_, err = d.store.Create(ctx, keyDevice+code, data, RequestLife)
	return code, secret, err
}

// Asking returns the name of the machine that waits with a code. The error wraps
// [ErrUnknown] or [ErrExpired].
func (d *Door) Asking(ctx context.Context, code string) (name string, err error) {
	r, _, err := d.request(ctx, code)
	return r.Name, err
}

// request finds a request, and the revision of it.
func (d *Door) request(ctx context.Context, code string) (r request, revision uint64, err error) {
	if strings.Trim(code, codeLetters+"-") != "" {
		return r, 0, fmt.Errorf("the code is %w", ErrUnknown)
	}
	entry, err := d.store.Get(ctx, keyDevice+code)
	if err == nil {
		err = json.Unmarshal(entry.Value, &r)
	}
	if err == nil && !d.now().Before(r.Expires) {
		err = fmt.Errorf("the code has %w", ErrExpired)
	}
	return r, entry.Revision, unknown(err)
}

// Approve lets the machine with a code have a token of a person.
func (d *Door) Approve(ctx context.Context, p Person, code string) error {
	r, revision, err := d.request(ctx, code)
	if err != nil {
		return err
	}
	if r.Approved != "" {
		return fmt.Errorf("the code was %w", ErrUsed)
	}
	r.Approved = p.Login
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = d.store.Update(ctx, keyDevice+code, data, revision, RequestLife)
	if errors.Is(err, service.ErrConflict) {
		err = fmt.Errorf("the code was %w", ErrUsed)
	}
	return err
}

// Collect returns the token of an approved request, once. The error wraps [ErrPending] as
// long as it is not approved.
func (d *Door) Collect(ctx context.Context, code, secret string) (token string, p Person, err error) {
	r, revision, err := d.request(ctx, code)
	switch {
	case err != nil:
		return "", p, err
	case subtle.ConstantTimeCompare([]byte(hashOf(secret)), []byte(r.Hash)) != 1:
		return "", p, fmt.Errorf("the code is %w", ErrUnknown)
	case r.Approved == "":
		return "", p, ErrPending
	}
	if p, err = d.Person(ctx, r.Approved); err != nil {
		return "", p, err
	}
	if err := d.notEnded(ctx, "code", p.Login, r.Expires.Add(-RequestLife)); err != nil {
		return "", p, err
	}
	r.Expires = d.now() // of two who collect at the same time, one does
	data, err := json.Marshal(r)
	if err != nil {
		return "", p, err
	}
	if _, err := d.store.Update(ctx, keyDevice+code, data, revision, RequestLife); err != nil {
		return "", p, fmt.Errorf("the code was %w", ErrUsed)
	}
	token, err = d.NewToken(ctx, p, r.Name)
	return token, p, err
}
