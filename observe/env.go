package observe

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
)

// The environment variables that the grader sets for a test in the sandbox.
const (
	envObserve = "GRADE_OBSERVE" // version of the format, set in the sandbox only
	envSeed    = "GRADE_SEED"    // 64 hexadecimal digits; honoured outside the sandbox too
	envLoops   = "GRADE_LOOPS"   // rounds of the measured window; absent: 1
	envStack   = "GRADE_STACK"   // bytes that a goroutine's stack may have; absent: what the runtime allows
	version    = "v1"
)

type environment struct {
	sandbox bool
	seed    [32]byte
	loops   int
	stack   int // 0: no limit of the kit's
}

// pipes holds the sandbox's pipes. The record goes out on descriptor 3; a byte on 4
// asks the sandbox to read the process's clocks, and a byte on 5 reports that it
// has. The files are package variables because a garbage-collected os.File closes
// its descriptor.
var pipes struct {
	observations, mark, marked *os.File
}

var openPipes = sync.OnceFunc(func() {
	pipes.observations = os.NewFile(3, "observation pipe")
	pipes.mark = os.NewFile(4, "mark pipe")
	pipes.marked = os.NewFile(5, "mark answer pipe")
})

func readEnvironment() (environment, error) {
	env := environment{loops: 1}
	v, sandbox := os.LookupEnv(envObserve)
	if sandbox && v != version {
		return env, fmt.Errorf("%s is %q, this kit writes %q", envObserve, v, version)
	}
	env.sandbox = sandbox
	if err := env.readSeed(); err != nil {
		return env, err
	}
	if err := positive(envLoops, &env.loops); err != nil {
		return env, err
	}
	if err := positive(envStack, &env.stack); err != nil {
		return env, err
	}
	if sandbox {
		openPipes()
	}
	return env, nil
}

// positive reads a number from the environment, if it is there.
func positive(name string, value *int) error {
	s, ok := os.LookupEnv(name)
	if !ok {
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return fmt.Errorf("%s is not a positive number: %q", name, s)
	}
	*value = n
	return nil
}

// limitStack lowers the limit of a goroutine's stack to a size that fits into the
// memory there is, so that a recursion without end dies of its stack, with a trace of
// where it is, and not of all memory, which says nothing. A test may set a lower one.
func (env *environment) limitStack() {
	if env.stack == 0 {
		return
	}
	if was := debug.SetMaxStack(env.stack); was < env.stack {
		debug.SetMaxStack(was)
	}
}

func (env *environment) readSeed() error {
	s, ok := os.LookupEnv(envSeed)
	switch {
	case ok:
		seed, err := hex.DecodeString(s)
		if err != nil || len(seed) != len(env.seed) {
			return fmt.Errorf("%s is not %d hexadecimal digits", envSeed, 2*len(env.seed))
		}
		copy(env.seed[:], seed)
	case env.sandbox:
		return errors.New(envSeed + " is not set")
	default:
		// Predictable seeds do no harm here, and crypto/rand would double what
		// the sandbox has to link into every test binary.
		for i := 0; i < len(env.seed); i += 8 {
			binary.LittleEndian.PutUint64(env.seed[i:], rand.Uint64())
		}
	}
	return nil
}

// newRand derives a source from the grading's seed and the test's name, so that
// each test of a grading sees other numbers.
func newRand(seed [32]byte, test string) *rand.Rand {
	h := fnv.New128a()
	h.Write([]byte(test))
	for i, b := range h.Sum(nil) {
		seed[i] ^= b
	}
	return rand.New(rand.NewChaCha8(seed))
}
