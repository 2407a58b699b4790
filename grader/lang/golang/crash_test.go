package golang

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCrashWords(t *testing.T) {
	const beyond = "panic: index out of range: the index was the length or more"
	const own = "the program ended with a panic, with a value of its own"
	for _, test := range []struct{ stderr, want string }{
		{"panic: runtime error: index out of range [5] with length 3 [recovered, repanicked]\n\ngoroutine 7 [running]:\n", beyond},
		{"panic: runtime error: index out of range [-5]\n", "panic: index out of range: the index was negative"},
		{"panic: runtime error: index out of range [0] with length 0\n", "panic: index out of range: there was no element, the length was 0"},
		{"panic: runtime error: slice bounds out of range [:5] with capacity 3\n", "panic: slice bounds out of range: the end was above the length or the capacity"},
		{"panic: runtime error: slice bounds out of range [5:3]\n", "panic: slice bounds out of range: a start was above an end"},
		{"panic: runtime error: slice bounds out of range [:-5]\n", "panic: slice bounds out of range: a bound was negative"},
		{"noise\npanic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV]\n", "panic: nil pointer dereference"},
		{"runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\n", "stack overflow: a recursion without end, or one that is far too deep"},
		{"fatal error: all goroutines are asleep - deadlock!", "deadlock: all goroutines wait for each other"},
		{"fatal error: sync: RUnlock of unlocked RWMutex\n", "unlock of a mutex that is not locked"},
		{"panic: deadlock: main bubble goroutine has exited but blocked goroutines remain [recovered, repanicked]\n", "panic: goroutines are left that wait for ever when the work is over: each has to end"},
		{"panic: send on closed channel [recovered]\n", "panic: send on a closed channel"},
		{"panic: interface conversion: interface {} is secret, not string [recovered, repanicked]\n", "panic: type assertion on a value of another type, or on nil"},
		{"panic: runtime error: hash of unhashable type p.Secret\n", "panic: map key of a type that cannot be compared"},

		{"panic: the answer is 42\n", own},
		{"panic: " + strings.Repeat("the answer is 42", 1<<17), own},
		{"panic: runtime error: the answer is 42\n", own},
		{"panic: runtime error: index out of range [5] with length 3 and the answer is 42\n", own},
		{"panic: runtime error: index out of range [123456789012345678901234567890]\n", own},
		{"panic: runtime error: integer divide by zero\x1b[31m\n", own},
		{"panic: runtime error: integer divide by zero\r\n", own},
		{"panic: interface conversion" + strings.Repeat(" ", 500) + "\n", own},
		{"panic: printed\npanic: send on closed channel\n", "panic: send on a closed channel"},

		{"", ""},
		{"the answer panic: runtime error: integer divide by zero\n", ""},
		{"\tpanic: runtime error: integer divide by zero\n", ""},
	} {
		assert.Equal(t, test.want, CrashWords([]byte(test.stderr)), "%q", test.stderr)
	}
}

// The texts come from the runtime of this test, so that a new Go release with other
// texts fails here.
func TestTheRuntimesOwnPanicsAreKnown(t *testing.T) {
	for name, f := range ownPanics() {
		t.Run(name, func(t *testing.T) {
			defer func() {
				err, ok := recover().(runtime.Error)
				assert.True(t, ok, "no panic")
				assert.NotEmpty(t, CrashWords([]byte("panic: "+err.Error()+"\n")), "%v", err)
			}()
			f()
		})
	}
}

func ownPanics() map[string]func() {
	zero, one, five, list, array := 0, 1, 5, []int{1, 2, 3}, [4]int{}
	var empty map[int]int
	var none *[4]int
	var value any = one
	var closed, nothing chan int = make(chan int), nil
	close(closed)
	return map[string]func(){
		"index":             func() { _ = list[five] },
		"negative index":    func() { _ = list[zero-five] },
		"slice to":          func() { _ = list[:five] },
		"string to":         func() { _ = "abc"[:five] },
		"slice from to":     func() { _ = list[five-one : one] },
		"slice negative to": func() { _ = list[:zero-one] },
		"slice from":        func() { _ = list[zero-one:] },
		"full slice":        func() { _ = list[:one:five] },
		"full slice array":  func() { _ = array[zero:one:five] },
		"full slice middle": func() { _ = list[: five-one+zero : one] },
		"full slice from":   func() { _ = list[five-one : one : one] },
		"full slice neg":    func() { _ = list[: zero-one : one] },
		"full slice neg 2":  func() { _ = list[zero-one : one : one] },
		"full slice neg 3":  func() { _ = list[zero : one : zero-one] },
		"slice to array":    func() { _ = [4]int(list) },
		"nil":               func() { _ = none[one] },
		"division":          func() { _ = one / zero },
		"shift":             func() { _ = one << (zero - one) },
		"makeslice len":     func() { _ = make([]int, zero-one) },
		"makeslice cap":     func() { _ = make([]int, one, zero) },
		"nil map":           func() { empty[one] = one },
		"close nil":         func() { close(nothing) },
		"close closed":      func() { close(closed) },
		"send on closed":    func() { closed <- one },
		"makechan":          func() { _ = make(chan int, zero-one) },
		"conversion":        func() { _ = value.(string) },
		"hash":              func() { _ = map[any]int{any(list): one} },
		"compare":           func() { value = list; _ = value == any(list) },
		"panic(nil)":        func() { panic(nil) },
	}
}

// Finding F1: a program that chooses the numbers in the runtime's message by a hidden
// input. All messages together give no more texts than the table has rows.
func TestCrashWordsAreConstants(t *testing.T) {
	told := map[string]bool{}
	for _, form := range []string{
		"index out of range [X] with length Y", "index out of range [X]", "slice bounds out of range [X:Y]", "slice bounds out of range [:X] with capacity Y",
		"slice bounds out of range [X:Y:]", "slice bounds out of range [:X:Y]", "slice bounds out of range [::X] with length Y", "slice bounds out of range [X::]",
		"cannot convert slice with length X to array or pointer to array with length Y", "hash of unhashable type p.TX", "comparing uncomparable type p.TY",
	} {
		for _, x := range []string{"-9221319072843218775", "-1", "0", "7", "4609", "9221319072843218775"} {
			for _, y := range []string{"0", "-3", "1", "4609", "9221319072843218775"} {
				words := CrashWords([]byte("panic: runtime error: " + strings.NewReplacer("X", x, "Y", y).Replace(form) + "\n"))
				told[words] = true
				if words != "" {
					assert.NotRegexp(t, `[1-9]`, words)
				}
			}
		}
	}
	assert.LessOrEqual(t, len(told), 10)
}

func FuzzCrashWords(f *testing.F) {
	constants := map[string]bool{"": true}
	for _, r := range crashes {
		constants["panic: "+r.words] = true
	}
	for _, r := range fatals {
		constants[r.words] = true
	}
	f.Add("panic: runtime error: index out of range [1] with length 0\n")
	f.Add("fatal error: stack overflow\n\ngoroutine 1 [running]:\n")
	f.Fuzz(func(t *testing.T, stderr string) {
		assert.True(t, constants[CrashWords([]byte(stderr))])
	})
}
