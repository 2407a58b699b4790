package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIdentityIn(t *testing.T) {
	env := map[string]string{"USERNAME": "root"}
	get := func(name string) string { return env[name] }
	id := IdentityIn(get)
	assert.Empty(t, id.Student, "outside of a classroom USERNAME is the user of the machine")
	env["CLASSROOM"], env["MODE"], env["GITHUB_ACTOR_ID"], env["COMMIT_TIME"] = "c", "group", "1815", "2026-03-14T16:00:00+01:00"
	id = IdentityIn(get)
	assert.Equal(t, "root", id.Student)
	assert.True(t, id.Group)
	assert.EqualValues(t, 1815, id.ActorID)
	assert.Equal(t, "2026-03-14T16:00:00+01:00", id.Committed)
}
