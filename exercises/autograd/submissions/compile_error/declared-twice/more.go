package autograd

func (v *Value) Neg() *Value { return unary(v, -v.data, -1) }
