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

// notEnded is [ErrExpired] if what a person is let in by was made before they were signed out.
func (d *Door) notEnded(ctx context.Context, what, login string, made time.Time) error {
	var at time.Time
	err := d.read(ctx, keyEnded+encode(login), &at)
	switch {
	case errors.Is(err, service.ErrNotFound):
		return nil
	case err == nil && !made.After(at):
		return fmt.Errorf("the %s has %w", what, ErrExpired)
	}
	return err
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
	if err := d.forget(ctx, login); err != nil {
		return fmt.Errorf("dismiss %s: %w", login, err)
	}
	return nil
}

// forget takes a person out of those whom the roster lacks.
func (d *Door) forget(ctx context.Context, login string) error {
	err := d.editGuests(ctx, func(list []guest) []guest { return without(list, login) })
	if err == nil {
		err = d.store.Delete(ctx, keyGuest+encode(login))
	}
	return err
}

// editGuests replaces the list of those whom the roster lacks.
func (d *Door) editGuests(ctx context.Context, change func([]guest) []guest) error {
	return editList(ctx, d, keyGuests, change)
}

// without takes a login out of a list.
func without(list []guest, login string) []guest {
	return slices.DeleteFunc(list, func(g guest) bool { return encode(g.Login) == encode(login) })
}
