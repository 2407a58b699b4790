package people

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/gradebook"
	"grade/service/engine"
)

// clock is set by a test.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) wait(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// opened returns a door on a real engine, with ada and grace in the roster.
func opened(t *testing.T) (*Door, *clock) {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Config{DataDir: t.TempDir(), Grader: "g", Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	keep, err := e.KV(t.Context(), "people")
	require.NoError(t, err)
	c := &clock{at: time.Now()}
	d, err := Open(t.Context(), keep, c.now)
	require.NoError(t, err)
	d.SetRoster([]Person{{Login: "ada", Name: "Ada", Email: "ada@example.org", Role: Student}, {Login: "grace", Name: "Grace", Role: Staff}})
	again, err := Open(t.Context(), keep, c.now)
	require.NoError(t, err)
	require.Equal(t, d.key, again.key, "a second process signs with the same key")
	return d, c
}

// Work stays the student's whose login the roster spells otherwise, and of two spellings with
// work each has its own.
func TestSpellAs(t *testing.T) {
	list := []Person{{Login: "ADA"}, {Login: "Bo"}, {Login: "bo"}, {Login: "eve"}, {Login: "MAX"}}
	SpellAs(list, [][2]string{{"ada", "gears"}, {"Bo", "gears"}, {"bo", "gears"}, {"max", "gears"}, {"Max", "gears"}})
	assert.Equal(t, []Person{{Login: "ada"}, {Login: "Bo"}, {Login: "bo"}, {Login: "eve"}, {Login: "Max"}}, list)
}

func TestFromRoster(t *testing.T) {
	_, err := gradebook.ReadRoster(strings.NewReader("Student;SIS Login ID;Role;Email\n\"Lovelace, Ada\";ada;;ada@example.org\nGrace;grace;Staff;\n;root;admin;\nTest;;;\n"))
	require.Error(t, err, "a person without any key")
	roster, err := gradebook.ReadRoster(strings.NewReader("Student;ID;SIS Login ID;Role;Email\n\"Lovelace, Ada\";1;ada;;ada@example.org\nGrace;2;grace;Staff;\n;3;root;admin;\nTest;4;;;\n"))
	require.NoError(t, err)
	list, err := FromRoster(roster)
	require.NoError(t, err)
	assert.Equal(t, []Person{
		{Login: "ada", Name: "Lovelace, Ada", Email: "ada@example.org", Role: Student},
		{Login: "grace", Name: "Grace", Role: Staff}, {Login: "root", Name: "root", Role: Admin},
	}, list, "and not Canvas's test student, who has no login")
	_, err = FromRoster(gradebook.Roster{{SISLoginID: "eve", Role: "teacher"}})
	assert.ErrorContains(t, err, "want student, staff or admin")
}

func TestInvitations(t *testing.T) {
	d, c := opened(t)
	ctx := t.Context()
	_, err := d.Invite(ctx, "eve")
	require.ErrorIs(t, err, ErrStranger)
	require.NoError(t, d.Admit(ctx, Person{Login: "eve", Name: "Eve", Role: Student}))
	secret, err := d.Invite(ctx, "EVE")
	require.NoError(t, err)
	all, err := d.People(ctx)
	require.NoError(t, err)
	assert.Len(t, all, 3)
	cookie, p, err := d.Enter(ctx, secret)
	require.NoError(t, err)
	assert.Equal(t, "eve", p.Login)
	_, _, err = d.Enter(ctx, secret)
	require.ErrorIs(t, err, ErrUsed)
	p, err = d.BySession(ctx, cookie)
	require.NoError(t, err)
	assert.Equal(t, "eve", p.Login)
	for _, bad := range []string{"", "x", cookie + "x", "x" + cookie, strings.Replace(cookie, ".", "", 1)} {
		_, err = d.BySession(ctx, bad)
		require.ErrorIs(t, err, ErrUnknown, bad)
	}
	d.SetRoster([]Person{{Login: "eve", Name: "Eve", Role: Staff}})
	p, err = d.BySession(ctx, cookie)
	require.NoError(t, err)
	assert.Equal(t, Staff, p.Role, "the roster comes first")
	old, err := d.Invite(ctx, "eve")
	require.NoError(t, err)
	c.wait(InvitationLife)
	_, _, err = d.Enter(ctx, old)
	require.ErrorIs(t, err, ErrExpired)
	c.wait(SessionLife)
	_, err = d.BySession(ctx, cookie)
	require.ErrorIs(t, err, ErrExpired)
}

// Who was let in before the roster named them goes with their line of it, and stays what it
// made of them.
func TestRosterOvertakes(t *testing.T) {
	d, _ := opened(t)
	ctx := t.Context()
	for _, login := range []string{"eve", "mallory"} {
		require.NoError(t, d.Admit(ctx, Person{Login: login, Name: login, Role: Staff}))
	}
	d.SetRoster([]Person{{Login: "EVE", Name: "Eve", Role: Student}})
	require.NoError(t, d.Overtake(ctx))
	p, err := d.Person(ctx, "eve")
	require.NoError(t, err)
	assert.Equal(t, Student, p.Role)
	d.SetRoster(nil)
	_, err = d.Person(ctx, "eve")
	require.ErrorIs(t, err, ErrStranger)
	p, err = d.Person(ctx, "mallory")
	require.NoError(t, err, "whom no roster has named")
	assert.Equal(t, Staff, p.Role)
	all, err := d.People(ctx)
	require.NoError(t, err)
	assert.Len(t, all, 1)
}

// What is kept opens nothing: no secret is in the store.
func TestSecretsAreNotKept(t *testing.T) {
	d, _ := opened(t)
	kept := &spy{Store: d.store}
	d.store = kept
	p, err := d.Person(t.Context(), "ada")
	require.NoError(t, err)
	link, err := d.Invite(t.Context(), "ada")
	require.NoError(t, err)
	cookie, _, err := d.Enter(t.Context(), link)
	require.NoError(t, err)
	token, err := d.NewToken(t.Context(), p, "laptop")
	require.NoError(t, err)
	_, secret, err := d.Ask(t.Context(), "laptop")
	require.NoError(t, err)
	session, _, _ := strings.Cut(cookie, ".")
	_, plain, _ := strings.Cut(token, ".")
	require.NotEmpty(t, kept.said)
	for _, s := range []string{link, session, plain, secret} {
		assert.NotContains(t, kept.said, s)
	}
}

func TestLimits(t *testing.T) {
	c := &clock{at: time.Now()}
	l := NewLimits(2, time.Second, c.now)
	for range 2 {
		_, ok := l.Take("a")
		assert.True(t, ok)
	}
	wait, ok := l.Take("a")
	assert.False(t, ok)
	assert.InDelta(t, time.Second, wait, float64(50*time.Millisecond))
	_, ok = l.Take("b")
	assert.True(t, ok)
	c.wait(wait)
	_, ok = l.Take("a")
	assert.True(t, ok)
	c.wait(time.Hour)
	_, ok = l.Take("c")
	assert.True(t, ok)
	assert.Len(t, l.of, 1, "who has all places back is forgotten")
}
