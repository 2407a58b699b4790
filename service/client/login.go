package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"grade/grader/fault"
)

// Request is a wish for a token, which a person approves in a browser.
type Request struct {
	Code    string `json:"code"`
	Secret  string `json:"secret"`
	Address string `json:"address"`
	Seconds int    `json:"seconds"`
	Every   int    `json:"every"`
}

// Ask asks for a token; name tells the person which machine asks.
func (c *Client) Ask(ctx context.Context, name string) (r Request, err error) {
	return r, c.post(ctx, "/devices", formType, strings.NewReader(url.Values{"name": {name}}.Encode()), &r)
}

const formType = "application/x-www-form-urlencoded"

// Granted is a token, and whose it is.
type Granted struct {
	Token string `json:"token"`
	Login string `json:"login"`
}

// Wait waits until a person has approved a request, and returns the token.
func (c *Client) Wait(ctx context.Context, r Request) (g Granted, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(max(1, r.Seconds))*time.Second, &fault.Error{Message: "the code was not approved in time", Advice: "begin again"})
	defer cancel()
	body := url.Values{"secret": {r.Secret}}.Encode()
	for {
		answer, err := c.do(ctx, http.MethodPost, "/devices/"+url.PathEscape(r.Code)+"/token", formType, strings.NewReader(body))
		switch {
		case final(err):
			return g, err
		case err == nil && answer.StatusCode == http.StatusOK:
			return g, decode(answer, &g)
		case err == nil:
			answer.Body.Close()
		}
		select {
		case <-ctx.Done():
			return g, fmt.Errorf("wait for the code to be approved: %w", context.Cause(ctx))
		case <-time.After(time.Duration(max(1, r.Every)) * time.Second):
		}
	}
}

// final reports whether a service has refused for good. Asked too often, or with a fault of
// its own, it may give the token a little later, as one that does not answer may.
func final(err error) bool {
	var r *Refusal
	return errors.As(err, &r) && r.Status < ours && r.Status != http.StatusTooManyRequests
}
