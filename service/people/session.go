package people

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"grade/service"
)

// session is a browser in which a person has signed in.
type session struct {
	Login   string    `json:"login"`
	Expires time.Time `json:"expires"`
}

// purposeSession keeps a signature of another purpose from passing as that of a session.
const purposeSession = "session"

// Begin begins a session of a person, and returns its cookie. It is always a new one, so
// that a session which another person has put into the browser before means nothing.
func (d *Door) Begin(ctx context.Context, p Person) (cookie string, err error) {
	secret := newSecret()
	err = d.edit(ctx, keySession+hashOf(secret), SessionLife, func([]byte) ([]byte, error) {
		return json.Marshal(session{Login: p.Login, Expires: d.now().Add(SessionLife)})
	})
	if err != nil {
		return "", fmt.Errorf("begin a session: %w", err)
	}
	return d.sign(purposeSession, secret), nil
}

// BySession returns the person whose session a cookie is. The roster is asked each time:
// a role that was taken away is gone at once. The error wraps [ErrUnknown], [ErrExpired] or
// [ErrStranger].
func (d *Door) BySession(ctx context.Context, cookie string) (Person, error) {
	secret, ok := d.signed(purposeSession, cookie)
	if !ok {
		return Person{}, fmt.Errorf("the session is %w", ErrUnknown)
	}
	var s session
	if err := d.read(ctx, keySession+hashOf(secret), &s); err != nil {
		return Person{}, unknown(err)
	}
	if err := d.notEnded(ctx, "session", s.Login, s.Expires.Add(-SessionLife)); err != nil {
		return Person{}, err
	}
	if !d.now().Before(s.Expires) {
		return Person{}, fmt.Errorf("the session has %w", ErrExpired)
	}
	return d.Person(ctx, s.Login)
}

// End ends a session. One that is not there has ended.
func (d *Door) End(ctx context.Context, cookie string) error {
	secret, ok := d.signed(purposeSession, cookie)
	if !ok {
		return nil
	}
	return d.store.Delete(ctx, keySession+hashOf(secret))
}

// unknown is err, or [ErrUnknown] where a value is missing.
func unknown(err error) error {
	if errors.Is(err, service.ErrNotFound) {
		return ErrUnknown
	}
	return err
}
