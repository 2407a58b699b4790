package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What is said of servers has neither a name nor a password nor a token.
func TestShown(t *testing.T) {
	for servers, want := range map[string]string{
		"":                        "",
		"nats://a:4222":           "nats://a:4222",
		"nats://me:p@ss@a:4222":   "nats://a:4222",
		"tls://token@a":           "tls://a",
		"me:pass@a:4222,b:4222":   "a:4222,b:4222",
		"nats://u:p@a,nats://u@b": "nats://a,nats://b",
	} {
		assert.Equal(t, want, Shown(servers))
	}
}
