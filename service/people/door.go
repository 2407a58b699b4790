package people

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"grade/service"
)

// Door lets people in, and knows who they are. Several goroutines may use it at a time, and
// several processes may open doors on one store.
type Door struct {
	store Store
	now   func() time.Time
	key   []byte // of signatures

	mu     sync.RWMutex // guards what follows
	roster []Person
	logins map[string]Person // of the roster, by login in lower case
}

// The keys of a store, and what each of their values is.
const (
	keySigning    = "signing"     // random bytes
	keyBegun      = "begun"       // once a service has started
	keyGuests     = "guests"      // a list of guests: all that the roster lacks
	keyGuest      = "guest."      // and a login: a Person that the roster lacks
	keyInvitation = "invitation." // and a hash: an invitation
	keySession    = "session."    // and a hash: a session
	keyDevice     = "device."     // and a code: a request for a token
	keyTokens     = "tokens."     // and a login: tokens
	keyEnded      = "ended."      // and a login: when they were signed out everywhere
)

// Open opens the door of a course. The first one makes the key that cookies are signed with.
func Open(ctx context.Context, store Store, now func() time.Time) (*Door, error) {
	d := &Door{store: store, now: now}
	err := d.edit(ctx, keySigning, 0, func(key []byte) ([]byte, error) {
		if len(key) == 0 {
			key = make([]byte, 32)
			_, _ = rand.Read(key)
		}
		d.key = key
		return key, nil
	})
	if err != nil {
		return nil, fmt.Errorf("open the door: %w", err)
	}
	return d, nil
}

// First reports whether this is the first time that it is asked, of a store: a service tells
// its first start by it.
func (d *Door) First(ctx context.Context) (bool, error) {
	_, err := d.store.Create(ctx, keyBegun, []byte("{}"), 0)
	if errors.Is(err, service.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// SetRoster replaces the people that the course's roster names.
func (d *Door) SetRoster(list []Person) {
	logins := map[string]Person{}
	for _, p := range slices.Backward(list) { // the first of a login counts
		logins[strings.ToLower(p.Login)] = p
	}
	delete(logins, "") // it names no person
	d.mu.Lock()
	defer d.mu.Unlock()
	d.roster, d.logins = list, logins
}

// Overtake forgets, of those who were let in without being in the roster, whom it names now:
// from then on it alone says whether they are in the course, and in which role.
func (d *Door) Overtake(ctx context.Context) error {
	guests, err := d.guests(ctx)
	if err != nil {
		return err
	}
	for _, g := range guests {
		if !d.Listed(g.Login) {
			continue
		}
		if err := d.forget(ctx, g.Login); err != nil {
			return fmt.Errorf("leave %s to the roster: %w", g.Login, err)
		}
	}
	return nil
}

// People lists the people in the course: those of the roster, and then those who were let
// in without being in it.
func (d *Door) People(ctx context.Context) ([]Person, error) {
	list := d.listed()
	guests, err := d.guests(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range guests {
		if d.Listed(g.Login) {
			continue
		}
		p, err := d.personOf(ctx, g)
		if err == nil {
			list = append(list, p)
		} else if !errors.Is(err, ErrStranger) { // who was dismissed meanwhile
			return nil, err
		}
	}
	return list, nil
}

// guests lists those whom the roster lacks, or lacked when they were let in.
func (d *Door) guests(ctx context.Context) (list []guest, err error) {
	if err = d.read(ctx, keyGuests, &list); errors.Is(err, service.ErrNotFound) {
		return nil, nil
	}
	return list, err
}

// guest is a person in the list of those whom the roster lacks. Older lists have logins alone.
type guest Person

// UnmarshalJSON reads a person, or a login.
func (g *guest) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &g.Login) == nil {
		return nil
	}
	return json.Unmarshal(data, (*Person)(g))
}

// personOf returns the person that a list has, without a look-up for each: only of an older
// list are they looked up.
func (d *Door) personOf(ctx context.Context, g guest) (Person, error) {
	if g.Role == "" {
		return d.Person(ctx, g.Login)
	}
	return Person(g), nil
}

func (d *Door) listed() []Person {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return append([]Person(nil), d.roster...)
}

// Listed reports whether the roster names a person. Who is not named was let in besides.
func (d *Door) Listed(login string) bool {
	_, ok := d.inRoster(login)
	return ok
}

// inRoster finds a person of the roster. Logins are compared without case.
func (d *Door) inRoster(login string) (Person, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	p, ok := d.logins[strings.ToLower(login)]
	return p, ok
}

// Person returns the person with a login. The roster comes first: who is taken out of it,
// and was not let in besides, is in the course no more. The error is [ErrStranger].
func (d *Door) Person(ctx context.Context, login string) (p Person, err error) {
	if p, ok := d.inRoster(login); ok {
		return p, nil
	}
	err = d.read(ctx, keyGuest+encode(login), &p)
	if errors.Is(err, service.ErrNotFound) || login == "" {
		return p, fmt.Errorf("%s is %w", login, ErrStranger)
	}
	return p, err
}

// ByEmail returns the person whom the roster has an address of; where it has no addresses,
// the one whose login it is.
func (d *Door) ByEmail(ctx context.Context, email string) (Person, error) {
	known := false
	for _, p := range d.listed() {
		known = known || p.Email != ""
		if email != "" && strings.EqualFold(p.Email, email) {
			return p, nil
		}
	}
	if known {
		return Person{}, fmt.Errorf("%s is %w", email, ErrStranger)
	}
	return d.Person(ctx, email)
}

// Admit adds a person whom the roster lacks.
func (d *Door) Admit(ctx context.Context, p Person) error {
	err := d.edit(ctx, keyGuest+encode(p.Login), 0, func([]byte) ([]byte, error) { return json.Marshal(p) })
	if err != nil {
		return fmt.Errorf("admit %s: %w", p.Login, err)
	}
	return d.editGuests(ctx, func(list []guest) []guest { return append(without(list, p.Login), guest(p)) })
}

// read decodes the value of a key.
func (d *Door) read(ctx context.Context, key string, into any) error {
	entry, err := d.store.Get(ctx, key)
	if err == nil {
		err = json.Unmarshal(entry.Value, into)
	}
	if err != nil {
		return fmt.Errorf("look up %s: %w", strings.SplitN(key, ".", 2)[0], err)
	}
	return nil
}

// edit replaces a value by what change makes of it; see [Edit].
func (d *Door) edit(ctx context.Context, key string, ttl time.Duration, change func([]byte) ([]byte, error)) error {
	return Edit(ctx, d.store, key, ttl, change)
}

// editList replaces a list, which is empty where there is none.
func editList[T any](ctx context.Context, d *Door, key string, change func([]T) []T) error {
	return d.edit(ctx, key, 0, func(data []byte) ([]byte, error) {
		var list []T
		if len(data) > 0 {
			if err := json.Unmarshal(data, &list); err != nil {
				return nil, err
			}
		}
		return json.Marshal(change(list))
	})
}
