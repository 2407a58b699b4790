package ring

import "testing"

func TestPush(t *testing.T) {
	r := New(2)
	r.Push(7)
	if got := r.Pop(); got != 7 {
		t.Errorf("Pop() = %d, want 7", got)
	}
}
