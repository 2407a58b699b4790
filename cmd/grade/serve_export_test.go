package main

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/results/file"
	"grade/service/engine"
)

// exchangedBy runs grade serve export or import, and returns what it says to be new.
func exchangedBy(t *testing.T, args ...string) (n engine.Exchanged) {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), append(append([]string{"serve"}, args...), "--json"), nil, &out, &errs)
	require.Equal(t, exitOK, code, errs.String())
	require.NoError(t, json.Unmarshal(out.Bytes(), &n))
	return n
}

// A service is exported while it runs and when it does not, and imported the same two ways.
func TestServeExportAndImport(t *testing.T) {
	s := serveSample(t, "--workers", "0")
	c := s.enter(s.link)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("files", "mean.go")
	require.NoError(t, err)
	_, err = part.Write([]byte("package mean\n\nfunc Mean(x []float64) float64 { return 0 }\n"))
	require.NoError(t, err)
	require.NoError(t, form.Close())
	answer, err := c.Post(s.address+"/mean/attempts", form.FormDataContentType(), &body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode, "the page of the attempt")

	one := engine.Exchanged{Attempts: 1, Pending: 1, Submissions: 1}
	backup := filepath.Join(t.TempDir(), "backup")
	assert.Equal(t, one, exchangedBy(t, "export", backup, "--data", s.data), "of the running service")
	s.stop()
	assert.Zero(t, exchangedBy(t, "export", backup, "--data", s.data), "nothing is new, and nothing runs")
	assert.Equal(t, one, exchangedBy(t, "export", filepath.Join(t.TempDir(), "another"), "--data", s.data))
	read, err := file.Read(backup)
	require.NoError(t, err)
	require.Len(t, read.Pending(), 1)
	assert.Equal(t, "mean", read.Pending()[0].Exercise)

	stopped := shortDir(t)
	assert.Equal(t, 1, exchangedBy(t, "import", backup, "--data", stopped).Attempts, "into a folder that nothing serves")
	assert.Zero(t, exchangedBy(t, "import", backup, "--data", stopped), "all of it is there")
	other := serveSample(t, "--workers", "0")
	assert.Equal(t, 1, exchangedBy(t, "import", backup, "--data", other.data).Attempts, "into the running service")
	assert.Contains(t, other.get(other.enter(other.link), "/course/students/"+read.Pending()[0].Student), "/mean/attempts/1")
}
