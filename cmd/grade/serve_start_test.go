package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The first start prints a link for the instructor, and no later one does; sessions outlive
// a start, and the course is read anew when it is asked for.
func TestServeStarts(t *testing.T) {
	course, data := sampleCourse(t), shortDir(t)
	s := serveIn(t, course, data, "--workers", "0")
	assert.Contains(t, s.out.String(), "serving Numbers for engineers on http://127.0.0.1:")
	assert.Contains(t, s.out.String(), "sign in as instructor (admin), once, within 14 days: ")
	instructor := s.enter(s.link)
	assert.Contains(t, s.get(instructor, "/course/queue"), "No worker is there")
	s.stop()

	s = serveIn(t, course, data, "--workers", "0")
	assert.Empty(t, s.link, "the first start alone tells it")
	assert.Contains(t, s.get(instructor, "/"), "Mean", "the session outlives a start")
	rules := filepath.Join(course, "grade.yaml")
	text, err := os.ReadFile(rules)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(rules, bytes.Replace(text, []byte("Numbers for engineers"), []byte("Figures for artists"), 1), 0o600))
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	require.Eventually(t, func() bool { return strings.Contains(s.get(instructor, "/"), "Figures for artists") }, 5*time.Minute, 500*time.Millisecond)
	require.NoError(t, os.WriteFile(rules, []byte("exercises: 3\n"), 0o600))
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	assert.Contains(t, s.get(instructor, "/"), "Figures for artists", "a course that cannot be read changes nothing")
}

// A change of the rules, or of a file that they name, is seen wherever they lie.
func TestRulesElsewhereAreLookedAt(t *testing.T) {
	t.Chdir(t.TempDir())
	o := &serveOptions{app: &app{}}
	print := o.fingerprint()
	for _, c := range []struct{ policy, file, text string }{
		{"", "grade.yaml", "roster: roster.csv\n"}, {"", "roster.csv", "SIS Login ID\nada\n"},
		{"rules/own.yaml", "rules/own.yaml", "times: times.csv\n"}, {"rules/own.yaml", "rules/times.csv", "student,exercise,submitted\n"},
	} {
		require.NoError(t, os.MkdirAll("rules", 0o755))
		if o.policyFile != c.policy {
			o.policyFile = c.policy
			print = o.fingerprint()
		}
		require.NoError(t, os.WriteFile(c.file, []byte(c.text), 0o600))
		assert.NotEqual(t, print, o.fingerprint(), c.file)
		print = o.fingerprint()
		require.NoError(t, os.WriteFile("other", []byte(c.file), 0o600))
		assert.Equal(t, print, o.fingerprint(), "a file of another's")
	}
}

// shortDir is a folder in whose path a socket has room.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "serve")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// A whole service is there within two seconds of the command.
func TestServeIsThereSoon(t *testing.T) {
	began := time.Now()
	serveSample(t, "--workers", "0")
	took := time.Since(began)
	t.Logf("the first page after %v", took)
	assert.Less(t, took, time.Minute, "two seconds on an idle machine")
}

func TestServeInvite(t *testing.T) {
	s := serveSample(t, "--workers", "0")
	invite := func(args ...string) (code int, out, errs string) {
		var o, e bytes.Buffer
		code = run(t.Context(), append([]string{"serve", "invite", "--data", s.data}, args...), nil, &o, &e)
		return code, o.String(), e.String()
	}
	code, out, _ := invite("ada", "bo")
	assert.Equal(t, exitOK, code)
	assert.Regexp(t, `(?m)\Aada  http://127\.0\.0\.1:\d+/enter/\S+\nbo  http://127\.0\.0\.1:\d+/enter/\S+\n\z`, out)
	ada := s.enter(strings.Fields(out)[1])
	assert.Contains(t, s.get(ada, "/account"), "Signed in as ada, student.")
	code, out, errs := invite("ada", "eve")
	assert.Equal(t, exitUsage, code)
	assert.Empty(t, out, "all links or none")
	assert.Contains(t, errs, `"eve" is not in the roster`)
	assert.Contains(t, errs, "hint: put them into the roster, or say what they are: --role student")
	code, out, _ = invite("eve", "--role", "staff", "--json")
	assert.Equal(t, exitOK, code)
	link := regexp.MustCompile(`http[^"]+`).FindString(out)
	assert.Contains(t, s.get(s.enter(link), "/account"), "eve, staff")
	code, _, errs = invite("ada", "--role", "staff")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "ada is student here already")
	code, _, errs = invite("ada", "--role", "king")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "want student, staff or admin")
	s.stop()
	code, _, errs = invite("ada")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "no service runs with the data in")
}

// Flags that contradict each other, or would let a secret cross a network in the clear, are
// refused before anything is opened.
func TestServeFlags(t *testing.T) {
	for said, args := range map[string][]string{
		"without TLS, sign-in links":           {"--listen", ":0"},
		"--tls-cert and --tls-key come":        {"--tls-cert", "x"},
		"--tls-cert and --autocert":            {"--tls-cert", "x", "--tls-key", "y", "--autocert", "h"},
		"read the certificate":                 {"--tls-cert", "x", "--tls-key", "y"},
		"--proxy x: not a network":             {"--proxy", "x"},
		"--address grade: not the":             {"--address", "grade"},
		"--oidc and --oidc-client":             {"--oidc", "https://accounts.example.org"},
		"read the issuer's secret":             {"--oidc", "https://accounts.example.org", "--oidc-client", "c", "--oidc-secret", "nowhere"},
		"--workers -1":                         {"--workers", "-1"},
		"the process sandbox contains nothing": {"--sandbox", "process"},
		"--listen x:":                          {"--listen", "x"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"serve", "--course", sampleCourse(t), "--data", shortDir(t)}, args...), nil, &out, &errs)
		assert.Equal(t, exitUsage, code, said)
		assert.Contains(t, errs.String(), said)
		assert.Contains(t, errs.String(), "hint: ", said)
	}
}

// An exercise whose name is an address of the site is refused.
func TestServeReservedName(t *testing.T) {
	course := sampleCourse(t)
	for _, dir := range []string{"exercises", "reference"} {
		require.NoError(t, os.Rename(filepath.Join(course, dir, "mean"), filepath.Join(course, dir, "account")))
	}
	require.NoError(t, os.Remove(filepath.Join(course, "grade.yaml")))
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"serve", "--course", course, "--data", shortDir(t), "--listen", "127.0.0.1:0", "--workers", "0"}, nil, &out, &errs)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs.String(), "an exercise cannot be called account in a service")
}

// certificate writes a certificate for this machine and more of its addresses, and returns
// what trusts it.
func certificate(t *testing.T, more ...net.IP) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "grade"}, NotAfter: time.Now().Add(time.Hour), IPAddresses: append(more, net.IPv4(127, 0, 0, 1)), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	bytes, err := x509.MarshalECPrivateKey(private)
	require.NoError(t, err)
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(cert, text, 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: bytes}), 0o600))
	pool = x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(text))
	return cert, key, pool
}

// With TLS, cookies are for TLS alone, and of no other host of the domain.
func TestServeTLS(t *testing.T) {
	cert, key, pool := certificate(t)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	was := http.DefaultTransport
	http.DefaultTransport = transport // the helpers of these tests ask by it
	t.Cleanup(func() { http.DefaultTransport = was })
	s := serveSample(t, "--workers", "0", "--tls-cert", cert, "--tls-key", key)
	require.True(t, strings.HasPrefix(s.address, "https://127.0.0.1:"), s.address)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	c := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := c.Post(s.link, "", nil)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Len(t, answer.Cookies(), 1)
	cookie := answer.Cookies()[0]
	assert.Equal(t, "__Host-grade-session", cookie.Name)
	assert.True(t, cookie.Secure)
	assert.NotEmpty(t, answer.Header.Get("Strict-Transport-Security"))
	assert.Equal(t, 2, answer.ProtoMajor)
}

// A command line signs in by a browser and hands in: the report is that of the server.
func TestLoginAndSubmit(t *testing.T) {
	if testing.Short() {
		t.Skip("grades in a sandbox")
	}
	openEngine(t) // or skip
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	keepCaches(t.Setenv)
	t.Setenv("HOME", t.TempDir())
	s := serveSample(t, "--workers", "1")
	grade := func(args ...string) (code int, out, errs string) {
		var o, e bytes.Buffer
		code = run(t.Context(), args, nil, &o, &e)
		return code, o.String(), e.String()
	}
	dir := solutions(t, map[string]string{"variance.go": wrongVariance})
	code, _, errs := grade("submit", "--server", s.address, dir)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "hint: sign in first: grade login "+s.address)

	s.login("ada")
	code, out, errs := grade("submit", "--server", s.address, dir)
	assert.Equal(t, exitMissing, code, errs)
	assert.Contains(t, out, "TestVariance")
	assert.Contains(t, out, "variance  0 of 100 points: points are missing\nattempt 1 at "+s.address+"/variance/attempts/1; 0 points count\n")
	dir = solutions(t, map[string]string{"variance.go": rightVariance})
	html := filepath.Join(t.TempDir(), "report.html")
	code, out, errs = grade("submit", "--server", s.address, dir, "--json", "--report", "html="+html)
	assert.Equal(t, exitOK, code, errs)
	assert.Contains(t, out, `"score": 100`)
	assert.FileExists(t, html)
	for said, args := range map[string][]string{
		"--only is for a grading on this machine": {"--only", "speed"},
		"there is no exercise":                    {"--exercise", "nope"},
	} {
		code, _, errs = grade(append([]string{"submit", "--server", s.address, dir}, args...)...)
		assert.Equal(t, exitUsage, code, said)
		assert.Contains(t, errs, said)
	}
	t.Setenv("GRADE_TOKEN", "grade_wrong.token")
	code, _, errs = grade("submit", "--server", s.address, dir)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "grade login")
	s.stop()
	code, _, errs = grade("submit", "--server", s.address, dir)
	assert.Equal(t, exitNoVerdict, code)
	assert.Contains(t, errs, "reach "+s.address)
}

// login has a command line let in by the browser of a person.
func (s *served) login(person string) {
	s.Helper()
	browser := s.enter(s.invite(person))
	said, ended := &syncedBuffer{}, make(chan int, 1)
	go func() { ended <- run(context.Background(), []string{"login", s.address}, nil, &syncedBuffer{}, said) }()
	var page string
	require.Eventually(s, func() bool {
		page = regexp.MustCompile(`http\S+/devices/\S+`).FindString(said.String())
		return page != ""
	}, 5*time.Minute, 10*time.Millisecond)
	answer, err := browser.Post(page, "", nil)
	require.NoError(s, err)
	require.NoError(s, answer.Body.Close())
	require.Equal(s, http.StatusOK, answer.StatusCode)
	require.Equal(s, exitOK, <-ended, said.String())
}
