package autograd

// Backward adds the derivative of v with respect to n to the gradient of every
// node n that v was computed from, and 1 to its own. Calls add up, in interior
// nodes as well as in leaves.
//
// A node may pass its gradient on only when it has arrived from all its uses, or
// a node used twice would pass its first half on twice. So uses are counted
// first and then crossed off (Kahn, Topological sorting of large networks, CACM
// 1962). Both walks keep their own stack: recursion as deep as the graph would
// need more stack than the graph needs heap. Scratch is in the nodes and back
// at 0 in the end, which spares a set of visited nodes, and the order depends on
// nothing but the graph, which makes results the same to the last bit every time.
func (v *Value) Backward() {
	v.countUses()
	v.acc = 1
	ready := []*Value{v}
	for len(ready) > 0 {
		n := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		if n.a != nil && n.a.receive(n.acc*n.da) {
			ready = append(ready, n.a)
		}
		if n.b != nil && n.b.receive(n.acc*n.db) {
			ready = append(ready, n.b)
		}
		n.grad += n.acc
		n.acc = 0
	}
}

// countUses sets the number of uses of every node that v was computed from,
// counting those uses only that v depends on.
func (v *Value) countUses() {
	stack := []*Value{v}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n.a != nil && n.a.use() {
			stack = append(stack, n.a)
		}
		if n.b != nil && n.b.use() {
			stack = append(stack, n.b)
		}
	}
}

// use counts one more use of v and reports whether it is the first.
func (v *Value) use() bool {
	v.uses++
	return v.uses == 1
}

// receive takes the gradient g that arrives from one use of v and reports
// whether that was the last.
func (v *Value) receive(g float64) bool {
	v.acc += g
	v.uses--
	return v.uses == 0
}
