// Package people says who is who, and lets them in: roles from a course's roster,
// invitations that work once, sessions of a browser, tokens of a command line, sign-in with
// the accounts of a university, and limits on how often a person or an address may ask.
//
// It keeps no secret in a form that opens anything: of a link, a session or a token it
// stores a hash. It knows neither pages nor submissions, and it never decides what a role
// may see: package site does.
//
// A caller opens a [Door] on a [Store], gives it the roster, and asks it who a cookie or a
// token belongs to:
//
//	door, err := people.Open(ctx, store, time.Now)
//	door.SetRoster(list)                     // again whenever the file has changed
//	link, err := door.Invite(ctx, "ada", "") // once; the link is shown once
//	cookie, err := door.Enter(ctx, link)     // uses it up, and begins a session
//	person, err := door.BySession(ctx, cookie)
package people

import (
	"context"
	"errors"
	"time"

	"grade/service"
)

// Store keeps what has to last. Several processes may use one.
type Store interface {
	// Get returns a value and its revision; [service.ErrNotFound] if there is none.
	Get(ctx context.Context, key string) (service.Entry, error)
	// Create keeps a value where there is none, and Update in the place of a revision; else
	// they return [service.ErrConflict]. A value may be removed after ttl; 0 keeps it for good.
	Create(ctx context.Context, key string, value []byte, ttl time.Duration) (revision uint64, err error)
	Update(ctx context.Context, key string, value []byte, revision uint64, ttl time.Duration) (uint64, error)
	// Delete removes a value, which need not exist.
	Delete(ctx context.Context, key string) error
}

// Edit replaces a value by what change makes of it, and again as long as another process
// was faster. Change gets nil where there is no value.
func Edit(ctx context.Context, s Store, key string, ttl time.Duration, change func([]byte) ([]byte, error)) error {
	for {
		was, err := s.Get(ctx, key)
		if err != nil && !errors.Is(err, service.ErrNotFound) {
			return err
		}
		data, err := change(was.Value)
		if err != nil {
			return err
		}
		if was.Revision == 0 {
			_, err = s.Create(ctx, key, data, ttl)
		} else {
			_, err = s.Update(ctx, key, data, was.Revision, ttl)
		}
		if !errors.Is(err, service.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
}

// Errors of those who ask to be let in. A page says what to do about each.
var (
	ErrUnknown  = errors.New("unknown")          // never issued, or mistyped
	ErrUsed     = errors.New("used already")     // of what works once
	ErrExpired  = errors.New("expired")          // too old
	ErrPending  = errors.New("not approved yet") // of a command line that waits
	ErrStranger = errors.New("not in the course")
	// ErrUnverified is of an address that an issuer does not vouch for.
	ErrUnverified = errors.New("not verified")
)

// How long things last.
const (
	InvitationLife = 14 * 24 * time.Hour
	SessionLife    = 30 * 24 * time.Hour
	TokenLife      = 180 * 24 * time.Hour
	RequestLife    = 10 * time.Minute // of a command line that asks for a token
)
