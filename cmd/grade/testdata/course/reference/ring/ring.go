// Package ring is a queue of fixed capacity.
package ring

// Ring is a queue that drops its oldest entry when it is full.
type Ring struct {
	entries []int
	n       int
}

// New returns a queue for n entries.
func New(n int) *Ring { return &Ring{n: n} }

// Push adds v.
func (r *Ring) Push(v int) {
	r.entries = append(r.entries, v)
	if len(r.entries) > r.n {
		r.entries = r.entries[1:]
	}
}

// Pop removes the oldest entry; 0 if there is none.
func (r *Ring) Pop() int {
	if len(r.entries) == 0 {
		return 0
	}
	v := r.entries[0]
	r.entries = r.entries[1:]
	return v
}
