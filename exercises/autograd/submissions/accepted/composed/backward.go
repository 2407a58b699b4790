package autograd

func (v *Value) Backward() {
	v.walk(func(in *Value) bool {
		in.waiting++
		return in.waiting == 1
	}, func(*Value) {})
	v.delta = 1
	v.walk(func(in *Value) bool {
		in.waiting--
		return in.waiting == 0
	}, (*Value).pass)
}

func (v *Value) pass() {
	v.grad += v.delta
	if v.left != nil {
		v.left.delta += v.delta * v.dleft
	}
	if v.right != nil {
		v.right.delta += v.delta * v.dright
	}
	v.delta = 0
}

// walk visits v, and each operand of a visited node at the use that enter
// accepts.
func (v *Value) walk(enter func(*Value) bool, visit func(*Value)) {
	for stack := []*Value{v}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		visit(n)
		for _, in := range [...]*Value{n.left, n.right} {
			if in != nil && enter(in) {
				stack = append(stack, in)
			}
		}
	}
}
