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

// keys are those of a server that listens: an operator, which the server trusts, and an
// account, in which the course is. Users of the account are signed when they are needed.
type keys struct {
	operator, account nkeys.KeyPair
}

// openKeys reads the keys in a folder, or makes them.
func openKeys(dir string) (*keys, error) {
	k := &keys{}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open keys: %w", err)
	}
	var err error
	if k.operator, err = openKey(filepath.Join(dir, "operator.seed"), nkeys.CreateOperator); err != nil {
		return nil, err
	}
	k.account, err = openKey(filepath.Join(dir, "account.seed"), nkeys.CreateAccount)
	return k, err
}

func openKey(name string, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, error) {
	seed, err := os.ReadFile(name)
	if err == nil {
		return nkeys.FromSeed(seed)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open keys: %w", err)
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
	account, err := k.account.PublicKey()
	if err != nil {
		return err
	}
	a := jwt.NewAccountClaims(account)
	a.Name = "grade"
	a.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	signed, err := a.Encode(k.operator)
	if err != nil {
		return err
	}
	resolver := &server.MemAccResolver{}
	if err := resolver.Store(account, signed); err != nil {
		return err
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
