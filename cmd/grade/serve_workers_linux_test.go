package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Workers of other machines connect by TLS, with the certificate of the pages. One that does
// not trust it does not connect, and says why.
func TestWorkersOverTLS(t *testing.T) {
	engineClient(t) // skips without one
	at := reserved(t)
	host, _, err := net.SplitHostPort(at)
	require.NoError(t, err)
	cert, key, pool := certificate(t, net.ParseIP(host))
	was := http.DefaultTransport
	http.DefaultTransport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}} // the helpers of these tests ask by it
	t.Cleanup(func() { http.DefaultTransport = was })
	s := serveSample(t, "--workers", "0", "--tls-cert", cert, "--tls-key", key, "--worker-listen", at)
	worker := func(name, scheme string, env ...string) *child {
		var creds, errs bytes.Buffer
		require.Equal(t, exitOK, run(t.Context(), []string{"serve", "credentials", name, "--data", s.data}, nil, &creds, &errs), errs.String())
		file := filepath.Join(t.TempDir(), "creds")
		require.NoError(t, os.WriteFile(file, creds.Bytes(), 0o600))
		w := newChild(t, name, env, "grade", "work", "--nats", scheme+"://"+at, "--creds", file)
		w.start()
		return w
	}

	stranger := worker("stranger", "tls")
	worker("lab7", "tls", "SSL_CERT_FILE="+cert)
	worker("plain", "nats", "SSL_CERT_FILE="+cert) // TLS is the server's word, and not the URL's

	staff := s.enter(s.link)
	var take []string
	eventually(t, 10*time.Minute, "two workers", func() bool { take = takers(t, s, staff); return len(take) == 2 })
	eventually(t, 10*time.Minute, "a reason", func() bool { return strings.Contains(stranger.log.String(), "certificate signed by unknown authority") })
	assert.ElementsMatch(t, []string{"lab7", "plain"}, take)
}

// takers are the workers that take jobs, as staff see them.
func takers(t *testing.T, s *served, staff *http.Client) (names []string) {
	t.Helper()
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.address+"/course/queue", nil)
	require.NoError(t, err)
	ask.Header.Set("Accept", "application/json")
	answer, err := staff.Do(ask)
	require.NoError(t, err)
	defer answer.Body.Close()
	var queue struct {
		Workers []struct {
			Name  string `json:"name"`
			Takes bool   `json:"takes_jobs"`
		} `json:"workers"`
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&queue))
	for _, w := range queue.Workers {
		if w.Takes {
			names = append(names, w.Name)
		}
	}
	return names
}
