package site

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
)

// An admin signs people out and puts out whom an invitation has let in, but not themselves
// and not whom the roster names.
func TestPeopleArePutOut(t *testing.T) {
	w := newWorld(t)
	root := w.signedIn("root")
	assert.Equal(t, http.StatusOK, root.post("/course/people", url.Values{"logins": {"eve"}, "role": {"staff"}}).status)
	page := root.get("/course/people").body
	assert.Contains(t, page, `action="/course/people/eve/dismiss"`)
	assert.NotContains(t, page, `action="/course/people/ada/dismiss"`)
	assert.NotContains(t, w.signedIn("grace").get("/course/people").body, "Sign out everywhere", "only admins can")

	for logins, what := range map[string]string{"eve": "eve is staff here already", "max b/o": "cannot be a login", "EVE": "eve is staff here already"} {
		got := root.post("/course/people", url.Values{"logins": {logins}, "role": {"student"}})
		assert.Equal(t, http.StatusUnprocessableEntity, got.status, logins)
		assert.Contains(t, got.body, what)
	}
	assert.NotContains(t, root.get("/course/people").body, "/students/max", "all are invited, or none")
	assert.Equal(t, http.StatusOK, root.post("/course/people", url.Values{"logins": {"eve"}, "role": {"staff"}}).status, "another link")

	eve, ada := w.signedIn("eve"), w.signedIn("ada")
	assert.Equal(t, http.StatusSeeOther, root.post("/course/people/ADA/sign-out", nil).status)
	assert.Equal(t, http.StatusUnauthorized, ada.get("/").status)
	assert.Equal(t, http.StatusOK, w.signedIn("ada").get("/").status)
	assert.Equal(t, http.StatusOK, eve.get("/course").status)
	assert.Equal(t, http.StatusSeeOther, root.post("/course/people/eve/dismiss", nil).status)
	assert.Equal(t, http.StatusUnauthorized, eve.get("/course").status)
	assert.NotContains(t, root.get("/course/people").body, "/students/eve")

	assert.Equal(t, http.StatusNotFound, root.post("/course/people/eve/dismiss", nil).status)
	assert.Equal(t, http.StatusConflict, root.post("/course/people/ada/dismiss", nil).status)
	assert.Equal(t, http.StatusConflict, root.post("/course/people/root/dismiss", nil).status)
}
