// Package strided makes every view by one function, and counts rows.
package strided

import (
	"errors"
	"iter"
	"math"
	"sort"
)

const Open = math.MinInt

var (
	ErrShape    = errors.New("strided: shape")
	ErrAxis     = errors.New("strided: axis")
	ErrIndex    = errors.New("strided: index")
	ErrStep     = errors.New("strided: step")
	ErrLayout   = errors.New("strided: layout")
	ErrReadOnly = errors.New("strided: read-only")
)

// layout is a tensor without its numbers.
type layout struct {
	offset int
	axes   [][2]int // size and stride
	fixed  bool
}

type Tensor struct {
	layout
	numbers []float64
}

// refused is what must panics with.
type refused struct{ err error }

// must ends the call that began with defer caught.
func must(ok bool, err error) {
	if !ok {
		panic(refused{err})
	}
}

func caught(t **Tensor, err *error) {
	switch r := recover().(type) {
	case nil:
	case refused:
		*err = r.err
		if t != nil {
			*t = nil
		}
	default:
		panic(r)
	}
}

func size(shape []int) int {
	zero := false
	for _, n := range shape {
		must(n >= 0, ErrShape)
		zero = zero || n == 0
	}
	if zero {
		return 0
	}
	left := math.MaxInt
	total := 1
	for _, n := range shape {
		left /= n
		must(left > 0, ErrShape)
		total *= n
	}
	return total
}

// tight is the layout of shape without gaps.
func tight(shape []int) layout {
	axes := make([][2]int, len(shape))
	next := 1
	for k := len(shape); k > 0; k-- {
		axes[k-1] = [2]int{shape[k-1], next}
		next *= shape[k-1]
	}
	return layout{axes: axes}
}

func New(shape ...int) (t *Tensor, err error) {
	defer caught(&t, &err)
	return &Tensor{tight(shape), make([]float64, size(shape))}, nil
}

func FromSlice(data []float64, shape ...int) (t *Tensor, err error) {
	defer caught(&t, &err)
	must(size(shape) == len(data), ErrShape)
	return &Tensor{tight(shape), data}, nil
}

func (l layout) Shape() (shape []int) {
	shape = make([]int, len(l.axes))
	for k, a := range l.axes {
		shape[k] = a[0]
	}
	return shape
}

func (l layout) Strides() (strides []int) {
	strides = make([]int, len(l.axes))
	for k, a := range l.axes {
		strides[k] = a[1]
	}
	return strides
}

func (l layout) Len() int {
	n := 1
	for _, a := range l.axes {
		if a[0] == 0 {
			return 0
		}
		n *= a[0]
	}
	return n
}

func (l layout) ReadOnly() bool { return l.fixed }

func (l layout) IsContiguous() bool {
	if l.Len() == 0 {
		return true
	}
	// The rest of a layout whose axes are joined is one axis of stride 1, or none.
	rest := l.joined()
	return len(rest) == 0 || len(rest) == 1 && rest[0][1] == 1
}

// joined are the axes that differ from 1, those that go on with each other as one.
func (l layout) joined() (axes [][2]int) {
	for _, a := range l.axes {
		if a[0] == 1 {
			continue
		}
		if n := len(axes); n > 0 && axes[n-1][1] == a[0]*a[1] {
			axes[n-1] = [2]int{axes[n-1][0] * a[0], a[1]}
		} else {
			axes = append(axes, a)
		}
	}
	return axes
}

func (t *Tensor) place(index []int) int {
	must(len(index) == len(t.axes), ErrIndex)
	place := t.offset
	for k, i := range index {
		place += front(i, t.axes[k][0], ErrIndex) * t.axes[k][1]
	}
	return place
}

func front(i, n int, err error) int {
	must(-n <= i && i < n, err)
	if i < 0 {
		return n + i
	}
	return i
}

func (t *Tensor) At(index ...int) (x float64, err error) {
	defer caught(nil, &err)
	return t.numbers[t.place(index)], nil
}

func (t *Tensor) Set(x float64, index ...int) (err error) {
	defer caught(nil, &err)
	must(!t.fixed, ErrReadOnly)
	t.numbers[t.place(index)] = x
	return nil
}

// made is a view with n axes, each as axis says.
func (t *Tensor) made(n int, axis func(k int) [2]int) *Tensor {
	v := &Tensor{layout{t.offset, make([][2]int, n), t.fixed}, t.numbers}
	for k := range v.axes {
		v.axes[k] = axis(k)
	}
	return v
}

func (t *Tensor) Permute(axes ...int) (v *Tensor, err error) {
	defer caught(&v, &err)
	must(len(axes) == len(t.axes), ErrAxis)
	seen := map[int]bool{}
	return t.made(len(axes), func(k int) [2]int {
		axis := front(axes[k], len(axes), ErrAxis)
		must(!seen[axis], ErrAxis)
		seen[axis] = true
		return t.axes[axis]
	}), nil
}

func (t *Tensor) Transpose(a, b int) (v *Tensor, err error) {
	defer caught(&v, &err)
	a, b = front(a, len(t.axes), ErrAxis), front(b, len(t.axes), ErrAxis)
	return t.made(len(t.axes), func(k int) [2]int {
		switch k {
		case a:
			k = b
		case b:
			k = a
		}
		return t.axes[k]
	}), nil
}

func (t *Tensor) Slice(axis, start, stop, step int) (v *Tensor, err error) {
	defer caught(&v, &err)
	axis = front(axis, len(t.axes), ErrAxis)
	must(step != 0, ErrStep)
	n, stride := t.axes[axis][0], t.axes[axis][1]
	step = max(min(step, max(n, 1)), min(-n, -1)) // more is not different
	begin, end := 0, n
	if step < 0 {
		begin, end = n-1, -1
	}
	low, high := min(begin, end), max(begin, end)
	if step < 0 && n == 0 {
		low, high = -1, -1
	}
	if start != Open {
		begin = limit(start, n, low, high)
	}
	if stop != Open {
		end = limit(stop, n, low, high)
	}
	count := 0
	if step > 0 && begin < end {
		count = (end-begin-1)/step + 1
	} else if step < 0 && begin > end {
		count = (begin-end-1)/-step + 1
	}
	v = t.made(len(t.axes), func(k int) [2]int {
		if k == axis {
			return [2]int{count, stride * step}
		}
		return t.axes[k]
	})
	if count > 0 {
		v.offset += begin * stride
	}
	return v, nil
}

func limit(i, n, low, high int) int {
	if i < 0 {
		i += n
	}
	if i < low {
		return low
	}
	return min(i, high)
}

// skip makes a view without the axes of which leave is true.
func (t *Tensor) skip(leave func(k int) bool) *Tensor {
	kept := make([]int, 0, len(t.axes))
	for k := range t.axes {
		if !leave(k) {
			kept = append(kept, k)
		}
	}
	return t.made(len(kept), func(k int) [2]int { return t.axes[kept[k]] })
}

func (t *Tensor) Select(axis, index int) (v *Tensor, err error) {
	defer caught(&v, &err)
	axis = front(axis, len(t.axes), ErrAxis)
	index = front(index, t.axes[axis][0], ErrIndex)
	v = t.skip(func(k int) bool { return k == axis })
	v.offset += index * t.axes[axis][1]
	return v, nil
}

func (t *Tensor) Squeeze(axes ...int) (v *Tensor, err error) {
	defer caught(&v, &err)
	if len(axes) == 0 {
		return t.skip(func(k int) bool { return t.axes[k][0] == 1 }), nil
	}
	gone := make(map[int]bool, len(axes))
	for _, axis := range axes {
		axis = front(axis, len(t.axes), ErrAxis)
		must(!gone[axis], ErrAxis)
		must(t.axes[axis][0] == 1, ErrShape)
		gone[axis] = true
	}
	return t.skip(func(k int) bool { return gone[k] }), nil
}

func (t *Tensor) Unsqueeze(axis int) (v *Tensor, err error) {
	defer caught(&v, &err)
	axis = front(axis, len(t.axes)+1, ErrAxis)
	return t.made(len(t.axes)+1, func(k int) [2]int {
		switch {
		case k == axis:
			return [2]int{1, 0}
		case k > axis:
			k--
		}
		return t.axes[k]
	}), nil
}

func (t *Tensor) Expand(shape ...int) (v *Tensor, err error) {
	defer caught(&v, &err)
	more := len(shape) - len(t.axes)
	must(more >= 0, ErrShape)
	v = t.made(len(shape), func(k int) [2]int {
		if k < more {
			return [2]int{shape[k], 0}
		}
		a := t.axes[k-more]
		if shape[k] == -1 || shape[k] == a[0] {
			return a
		}
		must(a[0] == 1, ErrShape)
		return [2]int{shape[k], 0}
	})
	size(v.Shape())
	v.fixed = true
	return v, nil
}

// complete is shape without -1.
func (t *Tensor) complete(shape []int) []int {
	whole := append([]int{}, shape...)
	var open []int
	for k, n := range whole {
		if n == -1 {
			open = append(open, k)
			whole[k] = 1
		}
	}
	must(len(open) < 2, ErrShape)
	n := size(whole)
	if len(open) == 1 {
		must(n > 0, ErrShape)
		must(t.Len()%n == 0, ErrShape)
		whole[open[0]] = t.Len() / n
	} else {
		must(n == t.Len(), ErrShape)
	}
	return whole
}

// fitted are axes of the given sizes, which are split off the old ones from the back.
func (t *Tensor) fitted(shape []int) ([][2]int, bool) {
	axes := tight(shape).axes
	if t.Len() == 0 {
		return axes, true
	}
	old := append([][2]int{}, t.axes...)
	for k := len(shape) - 1; k >= 0; k-- {
		n := shape[k]
		if n == 1 {
			continue
		}
		for { // join axes until the last is large enough
			last := len(old) - 1
			if old[last][0] == 1 {
				old = old[:last]
				continue
			}
			if old[last][0] >= n {
				break
			}
			before := old[last-1]
			if before[0] != 1 {
				if before[1] != old[last][0]*old[last][1] {
					return nil, false
				}
				before = [2]int{before[0] * old[last][0], old[last][1]}
			} else {
				before = old[last]
			}
			old[last-1] = before
			old = old[:last]
		}
		last := len(old) - 1
		for old[last][0]%n != 0 { // 6 of 4 takes the next one, too
			if last == 0 {
				return nil, false
			}
			before := old[last-1]
			if before[0] != 1 && before[1] != old[last][0]*old[last][1] {
				return nil, false
			}
			old[last-1] = [2]int{before[0] * old[last][0], old[last][1]}
			old = old[:last]
			last--
		}
		axes[k][1] = old[last][1]
		old[last] = [2]int{old[last][0] / n, old[last][1] * n}
	}
	return axes, true
}

func (t *Tensor) View(shape ...int) (v *Tensor, err error) {
	defer caught(&v, &err)
	axes, ok := t.fitted(t.complete(shape))
	must(ok, ErrLayout)
	return &Tensor{layout{t.offset, axes, t.fixed}, t.numbers}, nil
}

func (t *Tensor) Reshape(shape ...int) (v *Tensor, err error) {
	defer caught(&v, &err)
	shape = t.complete(shape)
	axes, ok := t.fitted(shape)
	if !ok {
		return &Tensor{tight(shape), t.Values()}, nil
	}
	return &Tensor{layout{t.offset, axes, t.fixed}, t.numbers}, nil
}

func (t *Tensor) Contiguous() *Tensor {
	if t.IsContiguous() {
		return t
	}
	return t.Clone()
}

func (t *Tensor) Clone() *Tensor { return &Tensor{tight(t.Shape()), t.Values()} }

func (t *Tensor) Values() []float64 {
	list := make([]float64, t.Len())
	write(&Tensor{tight(t.Shape()), list}, t)
	return list
}

func (t *Tensor) Fill(x float64) (err error) {
	defer caught(nil, &err)
	must(!t.fixed, ErrReadOnly)
	one := &Tensor{layout{axes: t.made(len(t.axes), func(k int) [2]int { return [2]int{t.axes[k][0], 0} }).axes}, []float64{x}}
	write(t, one)
	return nil
}

func (t *Tensor) CopyFrom(from *Tensor) (err error) {
	defer caught(nil, &err)
	must(!t.fixed, ErrReadOnly)
	must(len(t.axes) == len(from.axes), ErrShape)
	for k := range t.axes {
		must(t.axes[k][0] == from.axes[k][0], ErrShape)
	}
	if t.Len() == 0 {
		return nil
	}
	first, last := t.ends()
	fromFirst, fromLast := from.ends()
	if &t.numbers[0] == &from.numbers[0] && first <= fromLast && fromFirst <= last {
		from = from.Clone()
	}
	write(t, from)
	return nil
}

func (l layout) ends() (first, last int) {
	first, last = l.offset, l.offset
	for _, a := range l.axes {
		if a[1] < 0 {
			first += (a[0] - 1) * a[1]
		} else {
			last += (a[0] - 1) * a[1]
		}
	}
	return first, last
}

// both is an axis of two tensors.
type both struct{ n, to, from int }

// steps are the places of all rows.
func steps(axes []both) iter.Seq2[int, int] {
	return func(yield func(i, j int) bool) {
		count := make([]int, len(axes))
		for i, j := 0, 0; ; {
			if !yield(i, j) {
				return
			}
			k := len(axes)
			for ; k > 0; k-- {
				a := axes[k-1]
				if count[k-1]++; count[k-1] < a.n {
					i, j = i+a.to, j+a.from
					break
				}
				count[k-1] = 0
				i, j = i-(a.n-1)*a.to, j-(a.n-1)*a.from
			}
			if k == 0 {
				return
			}
		}
	}
}

// write copies the elements of from along its shortest strides, eight rows at a time.
func write(to, from *Tensor) {
	if to.Len() == 0 {
		return
	}
	var axes []both
	for k, a := range to.axes {
		if a[0] > 1 {
			axes = append(axes, both{a[0], a[1], from.axes[k][1]})
		}
	}
	for len(axes) < 2 {
		axes = append([]both{{n: 1}}, axes...)
	}
	sort.SliceStable(axes, func(i, j int) bool { return max(axes[i].from, -axes[i].from) > max(axes[j].from, -axes[j].from) })
	inner := axes[len(axes)-1]
	rows := 0 // the axis whose neighbours are nearest in to
	for k, a := range axes[:len(axes)-1] {
		if max(a.to, -a.to) <= max(axes[rows].to, -axes[rows].to) {
			rows = k
		}
	}
	row := axes[rows]
	outer := append(append([]both{}, axes[:rows]...), axes[rows+1:len(axes)-1]...)
	for i, j := range steps(outer) {
		i, j = i+to.offset, j+from.offset
		for first := 0; first < row.n; first += 8 {
			height := min(8, row.n-first)
			if inner.to == 1 && inner.from == 1 {
				for r := first; r < first+height; r++ {
					copy(to.numbers[i+r*row.to:][:inner.n], from.numbers[j+r*row.from:])
				}
				continue
			}
			for c := range inner.n {
				a, b := i+first*row.to+c*inner.to, j+first*row.from+c*inner.from
				for range height {
					to.numbers[a] = from.numbers[b]
					a += row.to
					b += row.from
				}
			}
		}
	}
}
