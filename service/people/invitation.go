package people

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// invitation is a link that lets one person in, once.
type invitation struct {
	Login   string    `json:"login"`
	Expires time.Time `json:"expires"`
	Used    time.Time `json:"used,omitzero"`
}

// Invite returns the secret of a link that lets a person in, once. Only its hash is kept:
// the secret is shown now or never.
func (d *Door) Invite(ctx context.Context, login string) (secret string, err error) {
	p, err := d.Person(ctx, login)
	if err != nil {
		return "", fmt.Errorf("invite: %w", err)
	}
	secret = newSecret()
	err = d.edit(ctx, keyInvitation+hashOf(secret), InvitationLife, func([]byte) ([]byte, error) {
		return json.Marshal(invitation{Login: p.Login, Expires: d.now().Add(InvitationLife)})
	})
	return secret, err
}

// Invited says whom a link would let in, and does not use it up: programs that show a
// preview of a link open it before its reader does. The error wraps [ErrUnknown],
// [ErrExpired], [ErrUsed] or [ErrStranger].
func (d *Door) Invited(ctx context.Context, secret string) (Person, error) {
	var i invitation
	if err := d.read(ctx, keyInvitation+hashOf(secret), &i); err != nil {
		return Person{}, unknown(err)
	}
	if err := i.check(d.now()); err != nil {
		return Person{}, err
	}
	if err := d.notEnded(ctx, "link", i.Login, i.Expires.Add(-InvitationLife)); err != nil {
		return Person{}, err
	}
	return d.Person(ctx, i.Login)
}

// Enter uses an invitation up and begins a session of the person. Of several who use one at
// the same time, one is let in. Errors are those of [Door.Invited].
func (d *Door) Enter(ctx context.Context, secret string) (cookie string, p Person, err error) {
	if p, err = d.Invited(ctx, secret); err != nil {
		return "", Person{}, err
	}
	err = d.edit(ctx, keyInvitation+hashOf(secret), InvitationLife, func(data []byte) ([]byte, error) {
		var i invitation
		if err := json.Unmarshal(data, &i); err != nil {
			return nil, err
		}
		if err := i.check(d.now()); err != nil {
			return nil, err
		}
		i.Used = d.now()
		return json.Marshal(i)
	})
	if err != nil {
		return "", Person{}, err
	}
	cookie, err = d.Begin(ctx, p)
	return cookie, p, err
}

// check refuses an invitation that lets in no more. A used one stays in the store for its
// whole life, so that a second click is told so.
func (i invitation) check(now time.Time) error {
	switch {
	case !i.Used.IsZero():
		return fmt.Errorf("the link was %w", ErrUsed)
	case !now.Before(i.Expires):
		return fmt.Errorf("the link has %w", ErrExpired)
	}
	return nil
}
