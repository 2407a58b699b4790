package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"grade/grader/wholefile"
)

// keys are those of the server in this process: an operator, which it trusts, an account,
// in which the course is, one of the workers of other machines, and the server's own account.
// Users are signed when they are needed. A server that does not listen has them too: its files
// belong to the account, and would not be found once it listens. Without the key of the
// workers, a new one is made at the next start, and the credentials that it had signed hold
// no more.
type keys struct {
	operator, account, workers, system nkeys.KeyPair
}

// openKeys reads the keys in a folder, or makes them.
func openKeys(dir string) (*keys, error) {
	k := &keys{}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open keys: %w", err)
	}
	for _, one := range []struct {
		pair   *nkeys.KeyPair
		name   string
		create func() (nkeys.KeyPair, error)
	}{{&k.operator, "operator.seed", nkeys.CreateOperator}, {&k.account, "account.seed", nkeys.CreateAccount}, {&k.workers, workersKey, nkeys.CreateAccount}, {&k.system, "system.seed", nkeys.CreateAccount}} {
		var err error
		if *one.pair, err = openKey(filepath.Join(dir, one.name), one.create); err != nil {
			return nil, fmt.Errorf("open keys: %w", err)
		}
	}
	return k, nil
}

// workersKey is the file of the key that signs the credentials of workers.
const workersKey = "workers.seed"

func readKey(name string) (nkeys.KeyPair, error) {
	seed, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return nkeys.FromSeed(seed)
}

func openKey(name string, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, error) {
	pair, err := readKey(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return pair, err
	}
	if pair, err = create(); err != nil {
		return nil, err
	}
	seed, err := pair.Seed()
	if err == nil {
		err = wholefile.Keep(name, seed)
	}
	if err == nil {
		err = os.Chmod(name, 0o600)
	}
	return pair, err
}

// guard makes a server refuse who has no credentials of its accounts, and lets workers ask of
// a course what they may.
func (k *keys) guard(o *server.Options, course string) error {
	operator, err := k.operator.PublicKey()
	if err != nil {
		return err
	}
	claims := jwt.NewOperatorClaims(operator)
	claims.Name = "grade"
	a, err := accountOf(k.account, "grade")
	if err != nil {
		return err
	}
	a.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	a.RevokeAt(jwt.All, time.Now().Add(-time.Second)) // only this process has users here; older versions gave workers some
	workers, err := accountOf(k.workers, "workers")
	if err != nil {
		return err
	}
	for _, s := range workerServices(course, "*") {
		a.Exports.Add(&jwt.Export{Name: s.subject, Subject: jwt.Subject(s.subject), Type: jwt.Service, ResponseType: s.answers})
		workers.Imports.Add(&jwt.Import{Name: s.subject, Account: a.Subject, Subject: jwt.Subject(s.subject), LocalSubject: renamed(s.local()), Type: jwt.Service})
	}
	system, err := accountOf(k.system, "system")
	if err != nil {
		return err
	}
	resolver := &server.MemAccResolver{}
	for _, c := range []*jwt.AccountClaims{a, workers, system} {
		signed, err := c.Encode(k.operator)
		if err == nil {
			err = resolver.Store(c.Subject, signed)
		}
		if err != nil {
			return err
		}
	}
	o.TrustedOperators, o.AccountResolver, o.SystemAccount = []*jwt.OperatorClaims{claims}, resolver, system.Subject
	return nil
}

// renamed writes each star of a subject as the number by which an import knows it.
func renamed(subject string) jwt.RenamingSubject {
	parts, stars := strings.Split(subject, "."), 0
	for i, p := range parts {
		if p == "*" {
			stars++
			parts[i] = fmt.Sprintf("$%d", stars)
		}
	}
	return jwt.RenamingSubject(strings.Join(parts, "."))
}

// accountOf returns the claims of an account that may do nothing with streams.
func accountOf(pair nkeys.KeyPair, name string) (*jwt.AccountClaims, error) {
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	a := jwt.NewAccountClaims(public)
	a.Name = name
	return a, nil
}

// ownUser is the engine itself: it may do everything in the account.
func (k *keys) ownUser() (nats.Option, error) {
	signed, pair, err := user(k.account, "grade serve", jwt.Permissions{}, time.Time{})
	if err != nil {
		return nil, err
	}
	return nats.UserJWT(
		func() (string, error) { return signed, nil },
		func(nonce []byte) ([]byte, error) { return pair.Sign(nonce) },
	), nil
}

// user signs a user of an account with permissions; one without any may do everything in it.
func user(account nkeys.KeyPair, name string, p jwt.Permissions, expires time.Time) (signed string, pair nkeys.KeyPair, err error) {
	if pair, err = nkeys.CreateUser(); err != nil {
		return "", nil, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return "", nil, err
	}
	u := jwt.NewUserClaims(public)
	u.Name, u.Permissions = name, p
	if !expires.IsZero() {
		u.Expires = expires.Unix()
	}
	signed, err = u.Encode(account)
	return signed, pair, err
}
