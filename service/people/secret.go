package people

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// secretBytes is the entropy of a link, a session and a token: guessing is hopeless, and a
// hash of it needs no salt and no slow function.
const secretBytes = 24

// newSecret returns random text that fits into an address.
func newSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails: it ends the program instead
	return base64.RawURLEncoding.EncodeToString(b)
}

// hashOf is what is kept of a secret.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// sign appends a signature to a text, so that a cookie that we did not write costs no look
// into the store.
func (d *Door) sign(purpose, text string) string {
	return text + "." + d.signature(purpose, text)
}

// signed returns the text of a signed one; ok is false if the signature is not ours.
func (d *Door) signed(purpose, value string) (text string, ok bool) {
	i := strings.LastIndexByte(value, '.')
	if i < 0 {
		return "", false
	}
	return value[:i], hmac.Equal([]byte(value[i+1:]), []byte(d.signature(purpose, value[:i])))
}

func (d *Door) signature(purpose, text string) string {
	mac := hmac.New(sha256.New, d.key)
	mac.Write([]byte(purpose + "\x00" + text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// encode makes a login a part of a key.
func encode(login string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strings.ToLower(login)))
}
