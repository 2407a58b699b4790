package people

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"grade/service"
)

// SignOut ends what a person is signed in with, everywhere: sessions, tokens, and links that
// were not used yet. The person stays in the course.
func (d *Door) SignOut(ctx context.Context, login string) error {
	err := d.edit(ctx, keyEnded+encode(login), max(SessionLife, InvitationLife), func([]byte) ([]byte, error) { return json.Marshal(d.now()) })
	if err == nil {
		err = d.editTokens(ctx, login, func([]Token) []Token { return nil })
	}
	if err != nil {
		return fmt.Errorf("sign out %s: %w", login, err)
	}
	return nil
}

// ended reports whether a session or a link of a person was made before they were signed out.
func (d *Door) ended(ctx context.Context, login string, made time.Time) (bool, error) {
	var at time.Time
	err := d.read(ctx, keyEnded+encode(login), &at)
	if errors.Is(err, service.ErrNotFound) {
		return false, nil
	}
	return !made.After(at), err
}

// Dismiss puts a person out of the course whom the roster lacks, and signs them out. The
// error is [ErrStranger] if no such person was let in. What they handed in stays.
func (d *Door) Dismiss(ctx context.Context, login string) error {
	var p Person
	if err := d.read(ctx, keyGuest+encode(login), &p); errors.Is(err, service.ErrNotFound) {
		return fmt.Errorf("%s is %w", login, ErrStranger)
	} else if err != nil {
		return err
	}
	if err := d.SignOut(ctx, login); err != nil {
		return err
	}
	err := d.editGuests(ctx, func(list []string) []string {
		return slices.DeleteFunc(list, func(l string) bool { return encode(l) == encode(login) })
	})
	if err == nil {
		err = d.store.Delete(ctx, keyGuest+encode(login))
	}
	if err != nil {
		return fmt.Errorf("dismiss %s: %w", login, err)
	}
	return nil
}

// editGuests replaces the list of those whom the roster lacks.
func (d *Door) editGuests(ctx context.Context, change func([]string) []string) error {
	return d.edit(ctx, keyGuests, 0, func(data []byte) ([]byte, error) {
		var list []string
		if len(data) > 0 {
			if err := json.Unmarshal(data, &list); err != nil {
				return nil, err
			}
		}
		return json.Marshal(change(list))
	})
}
