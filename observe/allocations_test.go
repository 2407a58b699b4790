package observe_test

import (
	"testing"

	"grade/observe"
)

var kept []*int // on the heap

// few is how many objects the runtime may allocate on its own meanwhile.
const few = 8

// What all calls but the first allocate is counted, and not divided.
func TestAllocations(t *testing.T) {
	list := []int{}
	grow := func() { list = append(list, 1) }
	calls := 0
	kept = make([]*int, 0, 1000)
	for name, tt := range map[string]struct {
		call         func()
		least, above int
	}{
		"nothing": {func() { calls++ }, 0, 0},
		"the first call alone": {func() {
			for range 1000 - len(kept) {
				kept = append(kept, new(int))
			}
		}, 0, 0},
		"one a call": {func() { kept[0] = new(int) }, 2000, 2000},
		"some calls": {grow, 5, 50},
	} {
		kept = append(kept[:0], nil)
		if got := observe.Allocations(2000, tt.call); got < tt.least || got > tt.above+few {
			t.Errorf("%s: %d allocations, want %d to %d", name, got, tt.least, tt.above)
		}
	}
	if calls != 2001 {
		t.Errorf("%d calls, want a first one and 2000", calls)
	}
	list = []int{}
	if mean := testing.AllocsPerRun(2000, grow); mean != 0 {
		t.Errorf("AllocsPerRun gives %v for a list that grows: Allocations is not needed any more", mean)
	}
}
