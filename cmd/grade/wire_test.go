package main

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"

	"grade/sandbox"
)

// An engine that runs and lets this user not in is not one to be started.
func TestHintOfAnEngine(t *testing.T) {
	denied := &noSandboxError{fmt.Errorf("%w: dial: %w", sandbox.ErrUnavailable, fs.ErrPermission)}
	assert.Contains(t, denied.Hint(), "socket")
	assert.NotContains(t, denied.Hint(), "start the Docker engine")
	assert.Contains(t, (&noSandboxError{errors.Join(sandbox.ErrUnavailable, fs.ErrNotExist)}).Hint(), "start the Docker engine")
}
