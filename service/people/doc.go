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
)

// Store keeps what has to last. Keys consist of letters, digits, -, _ and dots.
type Store interface {
	// Get returns a value and its revision; the error wraps [ErrNotFound] if there is none.
	Get(ctx context.Context, key string) (value []byte, revision uint64, err error)
	// Update replaces the value of a revision; 0 is that of a key without a value. The
	// error wraps [ErrConflict] if the value has changed since. A value may be removed
	// after ttl; 0 keeps it for good.
	Update(ctx context.Context, key string, value []byte, revision uint64, ttl time.Duration) error
	// Delete removes a value, which need not exist.
	Delete(ctx context.Context, key string) error
	// Keys lists the keys that begin with a prefix, which ends in a dot.
	Keys(ctx context.Context, prefix string) ([]string, error)
}

// Errors of a [Store].
var (
	ErrNotFound = errors.New("no such value")
	ErrConflict = errors.New("the value has changed meanwhile")
)

// Errors of those who ask to be let in. A page says what to do about each.
var (
	ErrUnknown = errors.New("unknown")          // never issued, or mistyped
	ErrUsed    = errors.New("used already")     // of what works once
	ErrExpired = errors.New("expired")          // too old
	ErrPending = errors.New("not approved yet") // of a command line that waits
	ErrNobody  = errors.New("not in the course")
)

// How long things last.
const (
	InvitationLife = 14 * 24 * time.Hour
	SessionLife    = 30 * 24 * time.Hour
	TokenLife      = 180 * 24 * time.Hour
	RequestLife    = 10 * time.Minute // of a command line that asks for a token
)

// A used invitation is remembered for its whole life, so that a second click is told that
// the link was used, and not that it is unknown.
