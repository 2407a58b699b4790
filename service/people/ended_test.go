package people

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/service"
)

// Who is signed out everywhere is let in by nothing from before, and by what is new.
func TestSignOutEverywhere(t *testing.T) {
	d, c := opened(t)
	ctx := t.Context()
	ada, err := d.Person(ctx, "ada")
	require.NoError(t, err)
	grace, err := d.Person(ctx, "grace")
	require.NoError(t, err)
	link, err := d.Invite(ctx, "ada")
	require.NoError(t, err)
	cookie, err := d.Begin(ctx, ada)
	require.NoError(t, err)
	other, err := d.Begin(ctx, grace)
	require.NoError(t, err)
	token, err := d.NewToken(ctx, ada, "laptop")
	require.NoError(t, err)
	code, secret, err := d.Ask(ctx, "another")
	require.NoError(t, err)
	require.NoError(t, d.Approve(ctx, ada, code))

	require.NoError(t, d.SignOut(ctx, "ADA"))
	_, err = d.BySession(ctx, cookie)
	require.ErrorIs(t, err, ErrExpired)
	_, err = d.ByToken(ctx, token)
	require.ErrorIs(t, err, ErrUnknown)
	_, _, err = d.Enter(ctx, link)
	require.ErrorIs(t, err, ErrExpired)
	_, _, err = d.Collect(ctx, code, secret)
	require.ErrorIs(t, err, ErrExpired)
	_, err = d.BySession(ctx, other)
	require.NoError(t, err)

	c.wait(time.Second)
	link, err = d.Invite(ctx, "ada")
	require.NoError(t, err)
	cookie, _, err = d.Enter(ctx, link)
	require.NoError(t, err)
	_, err = d.BySession(ctx, cookie)
	require.NoError(t, err)
}

// Who was let in without being in the roster can be put out, and invited again.
func TestDismiss(t *testing.T) {
	d, c := opened(t)
	ctx := t.Context()
	require.ErrorIs(t, d.Dismiss(ctx, "eve"), ErrStranger)
	require.ErrorIs(t, d.Dismiss(ctx, "ada"), ErrStranger, "the roster says who is in it")
	eve := Person{Login: "Eve", Name: "Eve", Role: Admin}
	require.NoError(t, d.Admit(ctx, eve))
	cookie, err := d.Begin(ctx, eve)
	require.NoError(t, err)
	require.NoError(t, d.Dismiss(ctx, "eve"))
	_, err = d.BySession(ctx, cookie)
	require.Error(t, err)
	_, err = d.Invite(ctx, "eve")
	require.ErrorIs(t, err, ErrStranger)
	all, err := d.People(ctx)
	require.NoError(t, err)
	assert.Len(t, all, 2)

	c.wait(time.Second)
	require.NoError(t, d.Admit(ctx, Person{Login: "eve", Name: "Eve", Role: Student}))
	_, err = d.BySession(ctx, cookie)
	require.ErrorIs(t, err, ErrExpired, "a session of before stays ended")
	p, err := d.Person(ctx, "eve")
	require.NoError(t, err)
	assert.Equal(t, Student, p.Role)
}

// counting counts what is looked up.
type counting struct {
	Store
	gets int
}

func (c *counting) Get(ctx context.Context, key string) (service.Entry, error) {
	c.gets++
	return c.Store.Get(ctx, key)
}

// A list of people is one look-up, however many guests there are; an older one of logins
// alone is read as well, also where one of them is gone.
func TestPeopleIsOneLookUp(t *testing.T) {
	d, _ := opened(t)
	ctx := t.Context()
	eve, bob := Person{Login: "eve", Name: "Eve", Role: Student}, Person{Login: "bob", Name: "Bob", Role: Staff}
	require.NoError(t, d.Admit(ctx, eve))
	require.NoError(t, d.Admit(ctx, Person{Login: "BOB", Name: "Bob", Role: Student}))
	require.NoError(t, d.Admit(ctx, bob))
	counted := &counting{Store: d.store}
	d.store = counted
	all, err := d.People(ctx)
	require.NoError(t, err)
	assert.Equal(t, []Person{eve, bob}, all[2:])
	assert.Equal(t, 1, counted.gets)

	require.NoError(t, d.edit(ctx, keyGuests, 0, func([]byte) ([]byte, error) { return []byte(`["eve","gone"]`), nil }))
	all, err = d.People(ctx)
	require.NoError(t, err)
	assert.Equal(t, []Person{eve}, all[2:])
	require.NoError(t, d.Admit(ctx, bob))
	all, err = d.People(ctx)
	require.NoError(t, err)
	assert.Equal(t, []Person{eve, bob}, all[2:])
}
