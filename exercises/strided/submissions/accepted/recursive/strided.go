// Package strided keeps a list of axes for each tensor.
package strided

import (
	"errors"
	"math"
)

var (
	ErrShape    = errors.New("shape")
	ErrAxis     = errors.New("axis")
	ErrIndex    = errors.New("index")
	ErrStep     = errors.New("step")
	ErrLayout   = errors.New("layout")
	ErrReadOnly = errors.New("read-only")
)

const Open = math.MinInt

// dim is an axis.
type dim struct{ n, stride int }

// storage is what tensors share.
type storage struct{ data []float64 }

type Tensor struct {
	mem    *storage
	start  int
	dims   []dim
	frozen bool
}

func product(sizes []int) (int, bool) {
	empty := false
	for _, n := range sizes {
		if n < 0 {
			return 0, false
		}
		empty = empty || n == 0
	}
	if empty {
		return 0, true
	}
	p := 1
	for _, n := range sizes {
		if n > math.MaxInt/p {
			return 0, false
		}
		p *= n
	}
	return p, true
}

// dense is a list of axes in row-major order.
func dense(sizes []int) []dim {
	dims := make([]dim, len(sizes))
	stride := 1
	for k := len(sizes) - 1; k >= 0; k-- {
		dims[k] = dim{sizes[k], stride}
		stride *= sizes[k]
	}
	return dims
}

func New(shape ...int) (*Tensor, error) {
	n, ok := product(shape)
	if !ok {
		return nil, ErrShape
	}
	return &Tensor{mem: &storage{make([]float64, n)}, dims: dense(shape)}, nil
}

func FromSlice(data []float64, shape ...int) (*Tensor, error) {
	if n, ok := product(shape); !ok || n != len(data) {
		return nil, ErrShape
	}
	return &Tensor{mem: &storage{data}, dims: dense(shape)}, nil
}

func (t *Tensor) Shape() []int {
	list := make([]int, len(t.dims))
	for k, d := range t.dims {
		list[k] = d.n
	}
	return list
}

func (t *Tensor) Strides() []int {
	list := make([]int, len(t.dims))
	for k, d := range t.dims {
		list[k] = d.stride
	}
	return list
}

func (t *Tensor) Len() int {
	n, _ := product(t.Shape())
	return n
}

func (t *Tensor) ReadOnly() bool { return t.frozen }

func (t *Tensor) IsContiguous() bool {
	if t.Len() == 0 {
		return true
	}
	want := 1
	for k := len(t.dims) - 1; k >= 0; k-- {
		d := t.dims[k]
		if d.n == 1 {
			continue
		}
		if d.stride != want {
			return false
		}
		want *= d.n
	}
	return true
}

func (t *Tensor) Values() []float64 {
	n := t.Len()
	list := make([]float64, n)
	if n > 0 {
		copyBlock(list, 0, dense(t.Shape()), t.mem.data, t.start, t.dims)
	}
	return list
}

func (t *Tensor) find(index []int) (int, bool) {
	if len(index) != len(t.dims) {
		return 0, false
	}
	at := t.start
	for k, i := range index {
		d := t.dims[k]
		if i < 0 {
			i += d.n
		}
		if i < 0 || i >= d.n {
			return 0, false
		}
		at += i * d.stride
	}
	return at, true
}

func (t *Tensor) At(index ...int) (float64, error) {
	at, ok := t.find(index)
	if !ok {
		return 0, ErrIndex
	}
	return t.mem.data[at], nil
}

func (t *Tensor) Set(x float64, index ...int) error {
	if t.frozen {
		return ErrReadOnly
	}
	at, ok := t.find(index)
	if !ok {
		return ErrIndex
	}
	t.mem.data[at] = x
	return nil
}

// axis turns an axis below 0 into one above.
func axis(k, n int) (int, bool) {
	if k < 0 {
		k += n
	}
	return k, 0 <= k && k < n
}

// derive is a view with other axes.
func (t *Tensor) derive(dims []dim) *Tensor {
	return &Tensor{t.mem, t.start, dims, t.frozen}
}

func (t *Tensor) Permute(axes ...int) (*Tensor, error) {
	if len(axes) != len(t.dims) {
		return nil, ErrAxis
	}
	dims := make([]dim, len(axes))
	used := make([]bool, len(axes))
	for k, a := range axes {
		a, ok := axis(a, len(axes))
		if !ok || used[a] {
			return nil, ErrAxis
		}
		used[a] = true
		dims[k] = t.dims[a]
	}
	return t.derive(dims), nil
}

func (t *Tensor) copied() []dim { return append([]dim(nil), t.dims...) }

func (t *Tensor) Transpose(a, b int) (*Tensor, error) {
	a, ok := axis(a, len(t.dims))
	b, ok2 := axis(b, len(t.dims))
	if !ok || !ok2 {
		return nil, ErrAxis
	}
	dims := t.copied()
	dims[a], dims[b] = dims[b], dims[a]
	return t.derive(dims), nil
}

func (t *Tensor) Slice(a, start, stop, step int) (*Tensor, error) {
	a, ok := axis(a, len(t.dims))
	if !ok {
		return nil, ErrAxis
	}
	if step == 0 {
		return nil, ErrStep
	}
	n := t.dims[a].n
	lowest, highest, first, last := 0, n, 0, n
	if step < 0 {
		lowest, highest, first, last = -1, n-1, n-1, -1
	}
	bound := func(i, whenOpen int) int {
		switch {
		case i == Open:
			return whenOpen
		case i < 0 && i+n < lowest:
			return lowest
		case i < 0:
			return i + n
		case i > highest:
			return highest
		}
		return i
	}
	from, to := bound(start, first), bound(stop, last)
	distance := uint(to - from)
	pace := uint(step)
	if step < 0 {
		distance = uint(from - to)
		pace = -pace
	}
	v := t.derive(t.copied())
	if (step > 0 && from >= to) || (step < 0 && from <= to) {
		v.dims[a].n = 0
		return v, nil
	}
	v.dims[a].n = int((distance-1)/pace) + 1
	v.start += from * v.dims[a].stride
	v.dims[a].stride *= step
	return v, nil
}

func (t *Tensor) Select(a, index int) (*Tensor, error) {
	a, ok := axis(a, len(t.dims))
	if !ok {
		return nil, ErrAxis
	}
	i, ok := axis(index, t.dims[a].n)
	if !ok {
		return nil, ErrIndex
	}
	v := t.derive(t.copied())
	v.start += i * v.dims[a].stride
	v.dims = append(v.dims[:a], v.dims[a+1:]...)
	return v, nil
}

func (t *Tensor) Squeeze(axes ...int) (*Tensor, error) {
	gone := make([]bool, len(t.dims))
	for _, a := range axes {
		a, ok := axis(a, len(t.dims))
		if !ok || gone[a] {
			return nil, ErrAxis
		}
		if t.dims[a].n != 1 {
			return nil, ErrShape
		}
		gone[a] = true
	}
	dims := make([]dim, 0, len(t.dims))
	for k, d := range t.dims {
		if gone[k] || len(axes) == 0 && d.n == 1 {
			continue
		}
		dims = append(dims, d)
	}
	return t.derive(dims), nil
}

func (t *Tensor) Unsqueeze(a int) (*Tensor, error) {
	a, ok := axis(a, len(t.dims)+1)
	if !ok {
		return nil, ErrAxis
	}
	dims := make([]dim, 0, len(t.dims)+1)
	dims = append(dims, t.dims[:a]...)
	dims = append(dims, dim{n: 1})
	dims = append(dims, t.dims[a:]...)
	return t.derive(dims), nil
}

func (t *Tensor) Expand(shape ...int) (*Tensor, error) {
	extra := len(shape) - len(t.dims)
	if extra < 0 {
		return nil, ErrShape
	}
	sizes := append([]int(nil), shape...)
	dims := make([]dim, len(shape))
	for k := range shape {
		if k >= extra {
			old := t.dims[k-extra]
			if sizes[k] == -1 {
				sizes[k] = old.n
			}
			if sizes[k] == old.n {
				dims[k] = old
				continue
			}
			if old.n != 1 {
				return nil, ErrShape
			}
		}
		dims[k] = dim{n: sizes[k]}
	}
	if _, ok := product(sizes); !ok {
		return nil, ErrShape
	}
	v := t.derive(dims)
	v.frozen = true
	return v, nil
}

// resolve replaces a -1.
func (t *Tensor) resolve(shape []int) ([]int, error) {
	sizes := append([]int(nil), shape...)
	hole := -1
	for k, n := range sizes {
		if n == -1 {
			if hole >= 0 {
				return nil, ErrShape
			}
			hole = k
			sizes[k] = 1
		}
	}
	p, ok := product(sizes)
	if !ok {
		return nil, ErrShape
	}
	if hole >= 0 {
		if p == 0 {
			return nil, ErrShape
		}
		sizes[hole] = t.Len() / p
		p *= sizes[hole]
	}
	if p != t.Len() {
		return nil, ErrShape
	}
	return sizes, nil
}

// restride is computeStride of PyTorch.
func restride(old []dim, sizes []int) ([]dim, bool) {
	dims := dense(sizes)
	if len(old) == 0 {
		return dims, true
	}
	j := len(sizes) - 1
	base := old[len(old)-1].stride
	elements, seen := 1, 1
	for k := len(old) - 1; k >= 0; k-- {
		elements *= old[k].n
		if k > 0 && (old[k-1].n == 1 || old[k-1].stride == elements*base) {
			continue
		}
		for j >= 0 && (seen < elements || sizes[j] == 1) {
			dims[j].stride = seen * base
			seen *= sizes[j]
			j--
		}
		if seen != elements {
			return nil, false
		}
		if k > 0 {
			base = old[k-1].stride
			elements, seen = 1, 1
		}
	}
	return dims, j == -1
}

func (t *Tensor) View(shape ...int) (*Tensor, error) {
	sizes, err := t.resolve(shape)
	if err != nil {
		return nil, err
	}
	if t.Len() == 0 {
		return t.derive(dense(sizes)), nil
	}
	dims, ok := restride(t.dims, sizes)
	if !ok {
		return nil, ErrLayout
	}
	return t.derive(dims), nil
}

func (t *Tensor) Reshape(shape ...int) (*Tensor, error) {
	v, err := t.View(shape...)
	if err == ErrLayout {
		return t.Clone().View(shape...)
	}
	return v, err
}

func (t *Tensor) Contiguous() *Tensor {
	if t.IsContiguous() {
		return t
	}
	return t.Clone()
}

func (t *Tensor) Clone() *Tensor {
	return &Tensor{mem: &storage{t.Values()}, dims: dense(t.Shape())}
}

func (t *Tensor) Fill(x float64) error {
	if t.frozen {
		return ErrReadOnly
	}
	if t.Len() > 0 {
		same := make([]dim, len(t.dims))
		for k := range same {
			same[k].n = t.dims[k].n
		}
		copyBlock(t.mem.data, t.start, t.dims, []float64{x}, 0, same)
	}
	return nil
}

func (t *Tensor) CopyFrom(from *Tensor) error {
	if t.frozen {
		return ErrReadOnly
	}
	if len(t.dims) != len(from.dims) {
		return ErrShape
	}
	for k := range t.dims {
		if t.dims[k].n != from.dims[k].n {
			return ErrShape
		}
	}
	if t.Len() == 0 {
		return nil
	}
	if t.mem == from.mem || &t.mem.data[0] == &from.mem.data[0] {
		a, b := t.reach()
		c, d := from.reach()
		if a <= d && c <= b {
			from = from.Clone()
		}
	}
	copyBlock(t.mem.data, t.start, t.dims, from.mem.data, from.start, from.dims)
	return nil
}

// reach is the first and last place in the buffer.
func (t *Tensor) reach() (a, b int) {
	a, b = t.start, t.start
	for _, d := range t.dims {
		far := (d.n - 1) * d.stride
		a += min(far, 0)
		b += max(far, 0)
	}
	return a, b
}

// loop is an axis of both tensors.
type loop struct{ n, to, from int }

func copyBlock(to []float64, i int, toDims []dim, from []float64, j int, fromDims []dim) {
	var loops []loop
	for k, d := range toDims {
		f := fromDims[k]
		if d.n == 1 {
			continue
		}
		if m := len(loops); m > 0 && loops[m-1].to == d.n*d.stride && loops[m-1].from == d.n*f.stride {
			loops[m-1] = loop{loops[m-1].n * d.n, d.stride, f.stride}
			continue
		}
		loops = append(loops, loop{d.n, d.stride, f.stride})
	}
	if len(loops) == 0 {
		to[i] = from[j]
		return
	}
	halve(to, i, from, j, loops)
}

// halve copies the halves of the longest axis, until there is little left.
func halve(to []float64, i int, from []float64, j int, loops []loop) {
	longest, all := 0, 1
	for k, l := range loops {
		all *= l.n
		if l.n > loops[longest].n {
			longest = k
		}
	}
	if all <= 2048 {
		walk(to, i, from, j, loops)
		return
	}
	l := loops[longest]
	half := l.n / 2
	loops[longest].n = half
	halve(to, i, from, j, loops)
	loops[longest].n = l.n - half
	halve(to, i+half*l.to, from, j+half*l.from, loops)
	loops[longest].n = l.n
}

func walk(to []float64, i int, from []float64, j int, loops []loop) {
	l := loops[0]
	if len(loops) > 1 {
		for range l.n {
			walk(to, i, from, j, loops[1:])
			i += l.to
			j += l.from
		}
		return
	}
	if l.to == 1 && l.from == 1 {
		copy(to[i:i+l.n], from[j:j+l.n])
		return
	}
	for range l.n {
		to[i] = from[j]
		i += l.to
		j += l.from
	}
}
