package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"grade/grader/fault"
	"grade/service/people"
)

// httpFlags say where a service listens, and how it is reached.
type httpFlags struct {
	listen, address string
	tlsCert, tlsKey string
	autocert        string
	plain           bool
	proxies         []string
	trusted         []netip.Prefix // of proxies
	url             *url.URL       // of address; nil: the listener's
}

func (h *httpFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&h.listen, "listen", "127.0.0.1:8080", "listen on this `ADDRESS`, such as :443; port 0 takes a free one")
	f.StringVar(&h.address, "address", "", "the `URL` by which people reach the service, as in links; by default that of --listen or --autocert")
	f.StringVar(&h.tlsCert, "tls-cert", "", "serve TLS with the certificate in this `FILE`")
	f.StringVar(&h.tlsKey, "tls-key", "", "and with the key in this `FILE`")
	f.StringVar(&h.autocert, "autocert", "", "serve TLS with certificates of Let's Encrypt for this `HOST`, whose port 443 leads here")
	f.BoolVar(&h.plain, "plain-http", false, "serve without TLS on more than this machine: a proxy in front does TLS")
	f.StringSliceVar(&h.proxies, "proxy", nil, "believe these `NETWORKS` what they say of a client's address (X-Forwarded-For), such as 10.0.0.7/32")
	_ = cmd.MarkFlagFilename("tls-cert")
	_ = cmd.MarkFlagFilename("tls-key")
	for _, flag := range []string{"listen", "address", "autocert", "proxy"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
}

// check refuses flags that contradict each other, and a service whose cookies and links
// would cross a network in the clear.
func (h *httpFlags) check() (err error) {
	host, _, err := net.SplitHostPort(h.listen)
	switch {
	case err != nil:
		return usage("give it as 127.0.0.1:8080 or :443", "--listen %s: %v", h.listen, err)
	case (h.tlsCert == "") != (h.tlsKey == ""):
		return usage("", "--tls-cert and --tls-key come together")
	case h.tlsCert != "" && h.autocert != "":
		return usage("", "--tls-cert and --autocert exclude each other")
	case !h.tls() && !h.plain && !isLoopback(host):
		return usage("give --tls-cert and --tls-key, or --autocert HOST; or --plain-http behind a proxy that does TLS", "--listen %s: without TLS, sign-in links and sessions could be read on the network", h.listen)
	}
	for _, p := range h.proxies {
		prefix, err := netip.ParsePrefix(p)
		if a, single := netip.ParseAddr(p); single == nil {
			prefix, err = a.Prefix(a.BitLen())
		}
		if err != nil {
			return usage("give it as 10.0.0.7 or 10.0.0.0/24", "--proxy %s: not a network", p)
		}
		h.trusted = append(h.trusted, prefix)
	}
	if h.address == "" {
		return nil
	}
	h.url, err = url.Parse(h.address)
	if err != nil || h.url.Host == "" || h.url.Scheme != "http" && h.url.Scheme != "https" || strings.Trim(h.url.Path, "/") != "" {
		return usage("give it as https://grade.example.org", "--address %s: not the address of a host", h.address)
	}
	return nil
}

func (h *httpFlags) tls() bool { return h.tlsCert != "" || h.autocert != "" }

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// listening is an open listener, and the address that people reach it by.
type listening struct {
	listener net.Listener
	address  string
}

// open opens the listener.
func (h *httpFlags) open(data string) (*listening, error) {
	config, err := h.tlsConfig(data)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", h.listen)
	if err != nil {
		return nil, &fault.Error{Message: "listen", Advice: "give another address: --listen HOST:PORT", Err: err}
	}
	if config != nil {
		l = tls.NewListener(l, config)
	}
	return &listening{l, h.reachedBy(l.Addr())}, nil
}

// reachedBy returns the address that people type.
func (h *httpFlags) reachedBy(at net.Addr) string {
	if h.url != nil {
		return h.url.Scheme + "://" + h.url.Host
	}
	if h.autocert != "" {
		return "https://" + h.autocert
	}
	host, port, _ := net.SplitHostPort(at.String())
	if a, err := netip.ParseAddr(host); err == nil && a.IsUnspecified() {
		if host, err = os.Hostname(); err != nil {
			host = "localhost"
		}
	}
	scheme := "http"
	if h.tls() {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// tlsConfig returns how TLS is done; nil: not here. The certificate of a file is read once: a
// renewed one wants a start.
func (h *httpFlags) tlsConfig(data string) (*tls.Config, error) {
	switch {
	case h.autocert != "":
		m := &autocert.Manager{Prompt: autocert.AcceptTOS, HostPolicy: autocert.HostWhitelist(h.autocert), Cache: autocert.DirCache(filepath.Join(data, "autocert"))}
		return &tls.Config{GetCertificate: m.GetCertificate, NextProtos: []string{"h2", "http/1.1", acme.ALPNProto}, MinVersion: tls.VersionTLS12}, nil
	case h.tlsCert != "":
		certificate, err := tls.LoadX509KeyPair(h.tlsCert, h.tlsKey)
		if err != nil {
			return nil, &fault.Error{Message: "read the certificate", Advice: "give a PEM file each: --tls-cert FILE --tls-key FILE", Err: err}
		}
		return &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}, nil
	}
	return nil, nil
}

// base has all requests end with a context.
func (l *listening) base(ctx context.Context) func(net.Listener) context.Context {
	return func(net.Listener) context.Context { return ctx }
}

func (l *listening) close() error {
	if err := l.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the listener: %w", err)
	}
	return nil
}

// oidcFlags say how people sign in with accounts that they have elsewhere.
type oidcFlags struct{ issuer, client, secretFile, claim, name string }

func (o *oidcFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.issuer, "oidc", "", "sign people in with OpenID Connect by the issuer at this `URL`, such as https://accounts.google.com")
	f.StringVar(&o.client, "oidc-client", "", "the `ID` that the issuer knows this service by")
	f.StringVar(&o.secretFile, "oidc-secret", "", "the `FILE` with the secret that the issuer has given out for it")
	f.StringVar(&o.claim, "oidc-claim", "email", "the `CLAIM` that names a person: email, for the roster's column Email, or one that is the login")
	f.StringVar(&o.name, "oidc-name", "your account", "the `NAME` on the button")
	_ = cmd.MarkFlagFilename("oidc-secret")
	for _, flag := range []string{"oidc", "oidc-client", "oidc-claim", "oidc-name"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
}

func (o *oidcFlags) check() error {
	if (o.issuer == "") != (o.client == "") {
		return usage("see docs/serving.md", "--oidc and --oidc-client come together")
	}
	return nil
}

// open reads the secret, which is in a file so that no list of processes shows it.
func (o *oidcFlags) open(d *people.Door, address string) (*people.OIDC, error) {
	secret := []byte{}
	if o.secretFile != "" {
		var err error
		if secret, err = os.ReadFile(o.secretFile); err != nil {
			return nil, &fault.Error{Message: "read the issuer's secret", Advice: "give a file that can be read: --oidc-secret FILE", Err: err}
		}
	}
	return d.NewOIDC(people.OIDCConfig{
		Issuer: o.issuer, ClientID: o.client, Secret: strings.TrimSpace(string(secret)),
		Redirect: address + "/sign-in/oidc/callback", Claim: o.claim,
	}), nil
}
