package golang

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCrashWords(t *testing.T) {
	for _, test := range []struct{ stderr, want string }{
		{"panic: runtime error: index out of range [5] with length 3 [recovered, repanicked]\n\ngoroutine 7 [running]:\n", "panic: runtime error: index out of range [5] with length 3"},
		{"noise\npanic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV]\n", "panic: runtime error: invalid memory address or nil pointer dereference"},
		{"runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\n", "fatal error: stack overflow"},
		{"fatal error: all goroutines are asleep - deadlock!", "fatal error: all goroutines are asleep - deadlock!"},
		{"fatal error: sync: RUnlock of unlocked RWMutex\n", "fatal error: sync: RUnlock of unlocked RWMutex"},
		{"panic: send on closed channel [recovered]\n", "panic: send on closed channel"},
		{"panic: interface conversion: interface {} is secret, not string [recovered, repanicked]\n", "panic: interface conversion"},
		{"panic: runtime error: hash of unhashable type p.Secret\n", "panic: runtime error: hash of unhashable type"},

		{"", ""},
		{"panic: the answer is 42\n", ""},
		{"panic: runtime error: the answer is 42\n", ""},
		{"panic: runtime error: index out of range [5] with length 3 and the answer is 42\n", ""},
		{"the answer panic: runtime error: integer divide by zero\n", ""},
		{"\tpanic: runtime error: integer divide by zero\n", ""},
		{"panic: runtime error: index out of range [123456789012345678901234567890]\n", ""},
		{"panic: runtime error: integer divide by zero\x1b[31m\n", ""},
		{"panic: runtime error: integer divide by zero\r\n", ""},
		{"panic: interface conversion" + strings.Repeat(" ", 500) + "\n", ""},
	} {
		assert.Equal(t, test.want, CrashWords([]byte(test.stderr)), "%q", test.stderr)
	}
}

// The texts come from the runtime of this test, so that a new Go release with other
// texts fails here.
func TestTheRuntimesOwnPanicsAreKnown(t *testing.T) {
	zero, one, five, list, array := 0, 1, 5, []int{1, 2, 3}, [4]int{}
	var empty map[int]int
	var none *[4]int
	var value any = one
	var closed, nothing chan int = make(chan int), nil
	close(closed)
	for name, f := range map[string]func(){
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
	} {
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
