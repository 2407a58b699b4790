package measure

import (
	"crypto/sha256"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// Simulations take minutes and have fixed seeds: the same sources, records and Go give the same
// gradings again. So testdata/simulated.json says of which of these all have passed as a whole;
// where it fits, a test runs a tenth of its gradings, and elsewhere all of them. Whoever changes
// this package renews the file:
//
//	go test ./grader/measure -update
//
// That runs all simulations as a whole, whatever the file says, and writes it if they have passed.
var update = flag.Bool("update", false, "run all simulations as a whole, and write testdata/simulated.json anew")

const simulatedFile = "testdata/simulated.json"

// simulations are the tests that begin one.
var simulations = []string{"TestNoRecordedVerdictFlips", "TestAMixtureEarnsNoMore", "TestNoVerdictFlips"}

// inputs are what decides them, embedded, so that the digest is of what was compiled. Of the
// other packages of grade they use types and names.
//
//go:embed *.go quantile/*.go testdata/loaded.json
var inputs embed.FS

// simulated says what the simulations have passed with. A Go release may change the random
// numbers, and an architecture the rounding.
type simulated struct {
	SHA256 string `json:"sha256"` // of the inputs
	Go     string `json:"go"`     // runtime.Version
	GOARCH string `json:"goarch"`
}

func simulatedHere() (simulated, error) {
	h := sha256.New()
	err := fs.WalkDir(inputs, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := inputs.ReadFile(name)
		fmt.Fprintf(h, "%q %d\n%s", name, len(data), data)
		return err
	})
	return simulated{fmt.Sprintf("%x", h.Sum(nil)), runtime.Version(), runtime.GOARCH}, err
}

// knownToPass reports whether the file fits. One that is missing or damaged does not.
func knownToPass(t *testing.T) bool {
	t.Helper()
	here, err := simulatedHere()
	require.NoError(t, err)
	var kept simulated
	data, err := os.ReadFile(simulatedFile)
	return err == nil && json.Unmarshal(data, &kept) == nil && kept == here
}

// simulation is a test that runs as a whole or in part.
type simulation struct {
	t             *testing.T
	whole         bool
	begun, passed int // parts
}

// passedWhole has the simulations that have passed as a whole in this run.
var passedWhole = map[string]bool{}

// begin begins the simulation that is the test t, which may not be parallel.
func begin(t *testing.T) *simulation {
	t.Helper()
	require.Contains(t, simulations, t.Name())
	s := &simulation{t: t, whole: *update || !testing.Short() && !knownToPass(t)}
	t.Cleanup(func() { passedWhole[t.Name()] = s.whole && s.begun > 0 && s.passed == s.begun && !t.Failed() })
	return s
}

// pick returns the number of gradings.
func (s *simulation) pick(whole, part int) int {
	if s.whole {
		return whole
	}
	return part
}

// run runs f as a subtest. What -run or -skip leaves out, or f itself skips, has not passed.
func (s *simulation) run(name string, f func(t *testing.T)) {
	s.begun++
	s.t.Run(name, func(t *testing.T) {
		f(t)
		if !t.Failed() {
			s.passed++
		}
	})
}

func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 && *update {
		if err := renew(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// renew writes the file, after a run in which each simulation has passed as a whole.
func renew() error {
	for _, name := range simulations {
		if !passedWhole[name] {
			return fmt.Errorf("%s stays as it is: %s has not run as a whole; leave out -run and -skip", simulatedFile, name)
		}
	}
	here, err := simulatedHere()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(here, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(simulatedFile, append(data, '\n'), 0o666)
}
