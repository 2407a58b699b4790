// Package turn draws what a run of tests does of what takes long. It is for tests only.
//
// The commit decides, so that one commit runs the same again and others run the rest.
package turn

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// share is one of how many of the tests that take turns a commit runs.
const share = 3

// Take skips a test that takes turns, unless this commit has drawn it, it is asked for by
// -run, or CI is set: CI runs all.
func Take(t *testing.T) {
	t.Helper()
	if os.Getenv("CI") == "" && !named() && !Drawn(Commit(), share, t.Name()) {
		t.Skipf("NOT TESTED: this commit runs one of %d of the longest tests, and not this one; CI=true or -run %s runs it", share, t.Name())
	}
}

// named reports whether -run is set.
func named() bool { return flag.Lookup("test.run").Value.String() != "" }

// Drawn reports whether a commit draws the thing of these names when it takes one of so many.
func Drawn(commit string, of uint64, names ...string) bool { return Lot(commit, names...)%of == 0 }

// Lot is the number that a commit gives to the thing of these names.
func Lot(commit string, names ...string) uint64 {
	sum := sha256.Sum256([]byte(commit + " " + strings.Join(names, " ")))
	return binary.BigEndian.Uint64(sum[:])
}

// Commit names the checkout; one without git is a commit of its own.
var Commit = sync.OnceValue(func() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
})
