package site

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A report is written for who reads pages alone.
func TestReportIsForPages(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	w.signedIn("ada").handIn(gears, solution("one"))
	a := w.graded("ada", 1)
	for accept, want := range map[string]bool{"text/html": true, "application/json": false} {
		r := httptest.NewRequest("GET", "/gears/attempts/1", nil)
		r.Header.Set("Accept", accept)
		v, err := (&request{Site: w.site, Request: r}).attemptView(w.course.Exercises[0], a, "/gears/attempts/")
		require.NoError(t, err)
		assert.NotNil(t, v.Result)
		assert.Equal(t, want, v.Report != "", accept)
	}
}
