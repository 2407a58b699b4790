// Package client talks to a service from a command line: it signs in, hands a submission in,
// follows its grading and fetches its result. It grades nothing and prints nothing; what an
// answer means is the caller's to show.
//
//	c, err := client.New(address, token)
//	list, err := c.Exercises(ctx)
//	attempt, err := c.HandIn(ctx, "autograd", snapshot)
//	attempt, err = c.Follow(ctx, attempt, func(n client.News) { ... })
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"time"

	"grade/grader/fault"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// Client talks to one service.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
}

// answerTime is how long a service may take to begin an answer; a stream then lasts as long
// as it takes.
const answerTime = time.Minute

// New returns a client of the service at an address; without a token, it asks as a stranger.
func New(address, token string) (*Client, error) {
	base, err := Address(address)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = answerTime
	return &Client{base: base, token: token, http: &http.Client{Transport: transport, CheckRedirect: sameHost}}, nil
}

// sameHost follows no redirect to another host: the token would go with it.
func sameHost(r *http.Request, via []*http.Request) error {
	if len(via) > 5 || r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
		return fmt.Errorf("the service sends on to %s, where the token does not belong", r.URL.Host)
	}
	return nil
}

// Address reads the address of a service, which has https unless it says otherwise or is on
// this machine, where services listen without. Of a link into a service, it is the part that
// names the service.
func Address(address string) (*url.URL, error) {
	if !strings.Contains(address, "://") {
		address = schemeOf(address) + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, &fault.Error{Message: fmt.Sprintf("%q is no address of a service", address), Advice: "give it as https://grade.example.org"}
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

func schemeOf(address string) string {
	host, _, _ := strings.Cut(address, "/")
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" || net.ParseIP(host).IsLoopback() {
		return "http://"
	}
	return "https://"
}

// Refusal is an answer of the service that is none.
type Refusal struct {
	Status   int               `json:"status"`
	Detail   string            `json:"detail"`
	Advice   string            `json:"advice"`
	Problems []verdict.Problem `json:"problems"`
}

func (r *Refusal) Error() string { return r.Detail }

// Hint says what to do.
func (r *Refusal) Hint() string { return r.Advice }

// ours is the lowest status that says that a fault is the service's.
const ours = 500

// Unwrap marks the refusal as the caller's to mend, unless the service is at fault.
func (r *Refusal) Unwrap() error {
	if r.Status >= ours {
		return nil
	}
	return &fault.Error{Message: r.Detail, Advice: r.Advice}
}

// Exercise is an exercise as the service lists it.
type Exercise struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Package string `json:"package"`
}

// Attempt is a submission that the service has.
type Attempt struct {
	Exercise string          `json:"exercise"`
	Number   int             `json:"number"`
	Stage    string          `json:"stage"`
	Words    string          `json:"words"`
	Notice   string          `json:"notice"`
	Address  string          `json:"address"`
	Events   string          `json:"events"`
	Result   *verdict.Result `json:"result"` // nil: none yet
	Points   *float64        `json:"points"` // that count for the exercise
	Rules    []string        `json:"rules"`
}

// On reports whether the attempt is on its way to a verdict.
func (a Attempt) On() bool { return a.Stage == "waiting" || a.Stage == "grading" }

// Exercises lists the exercises of the course.
func (c *Client) Exercises(ctx context.Context) ([]Exercise, error) {
	var home struct {
		Exercises []Exercise `json:"exercises"`
	}
	return home.Exercises, c.get(ctx, "/", &home)
}

// Attempt asks where an attempt stands.
func (c *Client) Attempt(ctx context.Context, address string) (a Attempt, err error) {
	return a, c.get(ctx, address, &a)
}

// HandIn hands a submission in. When it returns, the service has it for good.
func (c *Client) HandIn(ctx context.Context, exercise string, s *submission.Snapshot) (a Attempt, err error) {
	body, kind, err := Form(s)
	if err != nil {
		return a, err
	}
	return a, c.post(ctx, AttemptsOf(exercise), kind, body, &a)
}

// AttemptsOf is the address at which attempts at an exercise are handed in.
func AttemptsOf(exercise string) string { return "/" + url.PathEscape(exercise) + "/attempts" }

// Form is a submission as a browser sends it, and the kind of content that this is.
func Form(s *submission.Snapshot) (body *bytes.Buffer, kind string, err error) {
	body = &bytes.Buffer{}
	form := multipart.NewWriter(body)
	for _, f := range s.Files {
		h := textproto.MIMEHeader{"Content-Type": {"text/plain; charset=utf-8"}}
		h.Set("Content-Disposition", multipart.FileContentDisposition("files", f.Name))
		w, err := form.CreatePart(h)
		if err == nil {
			_, err = w.Write(f.Data)
		}
		if err != nil {
			return nil, "", fmt.Errorf("hand in: %w", err)
		}
	}
	if err := form.Close(); err != nil {
		return nil, "", fmt.Errorf("hand in: %w", err)
	}
	return body, form.FormDataContentType(), nil
}

func (c *Client) get(ctx context.Context, address string, into any) error {
	r, err := c.do(ctx, http.MethodGet, address, "", nil)
	if err != nil {
		return err
	}
	return decode(r, into)
}

func (c *Client) post(ctx context.Context, address, kind string, body io.Reader, into any) error {
	r, err := c.do(ctx, http.MethodPost, address, kind, body)
	if err != nil {
		return err
	}
	return decode(r, into)
}

// maxAnswer is the most that is read of an answer, in bytes.
const maxAnswer = 16 << 20

func decode(r *http.Response, into any) error {
	defer r.Body.Close()
	if err := json.NewDecoder(io.LimitReader(r.Body, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("read the service's answer: %w", err)
	}
	return nil
}

// do sends a request. An answer that is none is a [*Refusal].
func (c *Client) do(ctx context.Context, method, address, kind string, body io.Reader) (*http.Response, error) {
	at, err := c.base.Parse(address)
	if err != nil || at.Host != c.base.Host || at.Scheme != c.base.Scheme {
		return nil, fmt.Errorf("the service names an address that is not its own: %q", address)
	}
	r, err := http.NewRequestWithContext(ctx, method, at.String(), body)
	if err != nil {
		return nil, fmt.Errorf("ask the service: %w", err)
	}
	r.Header.Set("Accept", "application/json")
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, unreachable(c.base, err)
	}
	if answer.StatusCode < http.StatusBadRequest {
		return answer, nil
	}
	refusal := &Refusal{}
	if err := decode(answer, refusal); err != nil || refusal.Detail == "" {
		refusal.Detail = fmt.Sprintf("%s answers %s", c.base, answer.Status)
		refusal.Advice = "is that the address of a grade service?"
	}
	refusal.Status = answer.StatusCode
	return nil, refusal
}

// unreachable is the error of a service that does not answer.
func unreachable(base *url.URL, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("reach %s: %w", base, err)
}
