package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"grade/grader/wholefile"
)

// keys are those of the server in this process: an operator, which it trusts, an account,
// in which the course is, and the server's own account. Users are signed when they are
// needed. A server that does not listen has them too: its files belong to the account, and
// would not be found once it listens.
type keys struct {
	operator, account, system nkeys.KeyPair
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
	}{{&k.operator, "operator", nkeys.CreateOperator}, {&k.account, "account", nkeys.CreateAccount}, {&k.system, "system", nkeys.CreateAccount}} {
		var err error
		if *one.pair, err = openKey(filepath.Join(dir, one.name+".seed"), one.create); err != nil {
			return nil, fmt.Errorf("open keys: %w", err)
		}
	}
	return k, nil
}

func openKey(name string, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, error) {
	seed, err := os.ReadFile(name)
	if err == nil {
		return nkeys.FromSeed(seed)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	pair, err := create()
	if err != nil {
		return nil, err
	}
	if seed, err = pair.Seed(); err == nil {
		err = wholefile.Keep(name, seed)
	}
	if err == nil {
		err = os.Chmod(name, 0o600)
	}
	return pair, err
}

// guard makes a server refuse who has no credentials of the account.
func (k *keys) guard(o *server.Options) error {
	operator, err := k.operator.PublicKey()
	if err != nil {
		return err
	}
	claims := jwt.NewOperatorClaims(operator)
	claims.Name = "grade"
	resolver := &server.MemAccResolver{}
	account, err := k.account.PublicKey()
	if err != nil {
		return err
	}
	a := jwt.NewAccountClaims(account)
	a.Name = "grade"
	a.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	if o.SystemAccount, err = k.system.PublicKey(); err != nil {
		return err
	}
	s := jwt.NewAccountClaims(o.SystemAccount)
	s.Name = "system"
	for _, c := range []*jwt.AccountClaims{a, s} {
		signed, err := c.Encode(k.operator)
		if err == nil {
			err = resolver.Store(c.Subject, signed)
		}
		if err != nil {
			return err
		}
	}
	o.TrustedOperators, o.AccountResolver = []*jwt.OperatorClaims{claims}, resolver
	return nil
}

// ownUser is the engine itself: it may do everything in the account.
func (k *keys) ownUser() (nats.Option, error) {
	signed, pair, err := k.user("grade serve", jwt.Permissions{}, time.Time{})
	if err != nil {
		return nil, err
	}
	return nats.UserJWT(
		func() (string, error) { return signed, nil },
		func(nonce []byte) ([]byte, error) { return pair.Sign(nonce) },
	), nil
}

// user signs a user with permissions; one without any may do everything.
func (k *keys) user(name string, p jwt.Permissions, expires time.Time) (signed string, pair nkeys.KeyPair, err error) {
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
	signed, err = u.Encode(k.account)
	return signed, pair, err
}
