package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"grade/grader/fault"
	"grade/grader/wholefile"
)

// Tokens is the file in which a person's tokens are, by the addresses of services.
type Tokens struct{ Name string }

// UserTokens returns the file of this user.
func UserTokens() (Tokens, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return Tokens{}, &fault.Error{Message: "find the folder for tokens", Advice: "set HOME, or give the token in GRADE_TOKEN", Err: err}
	}
	return Tokens{filepath.Join(dir, "grade", "tokens.json")}, nil
}

// Of returns the token for a service; "" if there is none.
func (t Tokens) Of(address string) (string, error) {
	all, err := t.read()
	if err != nil {
		return "", err
	}
	base, err := Address(address)
	if err != nil {
		return "", err
	}
	return all[base.String()], nil
}

// Keep stores the token for a service, readable by this user alone.
func (t Tokens) Keep(address, token string) error {
	all, err := t.read()
	if err != nil {
		return err
	}
	base, err := Address(address)
	if err != nil {
		return err
	}
	all[base.String()] = token
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("keep the token: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(t.Name), 0o700); err != nil {
		return fmt.Errorf("keep the token: %w", err)
	}
	return write(t.Name, append(data, '\n'))
}

func (t Tokens) read() (map[string]string, error) {
	all := map[string]string{}
	data, err := os.ReadFile(t.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, &fault.Error{Message: "read " + t.Name, Advice: "mend or remove it, and sign in again", Err: err}
	}
	return all, nil
}

// write replaces the file. A new one is this user's alone; an old one keeps its rights.
func write(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = wholefile.Keep(name, data)
	}
	if err != nil {
		return fmt.Errorf("keep the token: %w", err)
	}
	return nil
}
