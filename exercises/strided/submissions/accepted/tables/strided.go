// Package strided goes through tables of offsets.
package strided

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Open leaves a bound out.
const Open = math.MinInt

var (
	ErrShape    = errors.New("wrong shape")
	ErrAxis     = errors.New("wrong axis")
	ErrIndex    = errors.New("wrong index")
	ErrStep     = errors.New("wrong step")
	ErrLayout   = errors.New("wrong layout")
	ErrReadOnly = errors.New("not to be written")
)

// Tensor looks at buf from zero on.
type Tensor struct {
	buf      []float64
	zero     int
	sizes    []int
	steps    []int
	constant bool
}

// elements counts, with the 128 bits of a product.
func elements(sizes []int) (int, error) {
	for _, n := range sizes {
		if n < 0 {
			return 0, fmt.Errorf("%w: %d", ErrShape, n)
		}
	}
	if slices.Contains(sizes, 0) {
		return 0, nil
	}
	total := uint64(1)
	for _, n := range sizes {
		high, low := bits.Mul64(total, uint64(n))
		if high != 0 || low > math.MaxInt {
			return 0, fmt.Errorf("%w: too many", ErrShape)
		}
		total = low
	}
	return int(total), nil
}

// steps of a tensor without gaps.
func compact(sizes []int) []int {
	steps := make([]int, len(sizes))
	step := 1
	for k := range sizes {
		k = len(sizes) - 1 - k
		steps[k] = step
		step *= sizes[k]
	}
	return steps
}

func wrap(buf []float64, sizes []int) *Tensor {
	return &Tensor{buf: buf, sizes: slices.Clone(sizes), steps: compact(sizes)}
}

func New(shape ...int) (*Tensor, error) {
	n, err := elements(shape)
	if err != nil {
		return nil, err
	}
	return wrap(make([]float64, n), shape), nil
}

func FromSlice(data []float64, shape ...int) (*Tensor, error) {
	n, err := elements(shape)
	if err == nil && n != len(data) {
		err = fmt.Errorf("%w: %d for %d", ErrShape, len(data), n)
	}
	if err != nil {
		return nil, err
	}
	return wrap(data, shape), nil
}

func (t *Tensor) Shape() []int   { return slices.Clone(t.sizes) }
func (t *Tensor) Strides() []int { return slices.Clone(t.steps) }
func (t *Tensor) ReadOnly() bool { return t.constant }

func (t *Tensor) Len() int {
	n, _ := elements(t.sizes)
	return n
}

func (t *Tensor) IsContiguous() bool {
	if slices.Contains(t.sizes, 0) {
		return true
	}
	for k, step := range compact(t.sizes) {
		if t.sizes[k] > 1 && t.steps[k] != step {
			return false
		}
	}
	return true
}

func (t *Tensor) Values() []float64 {
	list := make([]float64, t.Len())
	transfer(wrap(list, t.sizes), t)
	return list
}

// normal is i from the front.
func normal(i, n int, err error) (int, error) {
	if i >= n || i < -n {
		return 0, err
	}
	return (i + n) % n, nil
}

func (t *Tensor) element(index []int) (*float64, error) {
	if len(index) != len(t.sizes) {
		return nil, ErrIndex
	}
	place := t.zero
	for k := range index {
		if index[k] >= t.sizes[k] || index[k] < -t.sizes[k] {
			return nil, fmt.Errorf("%w: axis %d", ErrIndex, k)
		}
		i := index[k]
		if i < 0 {
			i += t.sizes[k]
		}
		place += i * t.steps[k]
	}
	return &t.buf[place], nil
}

func (t *Tensor) At(index ...int) (float64, error) {
	p, err := t.element(index)
	if err != nil {
		return 0, err
	}
	return *p, nil
}

func (t *Tensor) Set(x float64, index ...int) error {
	if t.constant {
		return ErrReadOnly
	}
	p, err := t.element(index)
	if err == nil {
		*p = x
	}
	return err
}

func (t *Tensor) twin() *Tensor {
	v := *t
	v.sizes, v.steps = slices.Clone(t.sizes), slices.Clone(t.steps)
	return &v
}

func (t *Tensor) Permute(axes ...int) (*Tensor, error) {
	if len(axes) != len(t.sizes) {
		return nil, ErrAxis
	}
	v := t.twin()
	for k, a := range axes {
		a, err := normal(a, len(axes), ErrAxis)
		if err != nil {
			return nil, err
		}
		for _, b := range axes[:k] {
			if a == b || a == b+len(axes) {
				return nil, ErrAxis
			}
		}
		v.sizes[k], v.steps[k] = t.sizes[a], t.steps[a]
	}
	return v, nil
}

func (t *Tensor) Transpose(a, b int) (*Tensor, error) {
	n := len(t.sizes)
	a, err := normal(a, n, ErrAxis)
	if err != nil {
		return nil, err
	}
	if b, err = normal(b, n, ErrAxis); err != nil {
		return nil, err
	}
	v := t.twin()
	v.sizes[a], v.sizes[b] = t.sizes[b], t.sizes[a]
	v.steps[a], v.steps[b] = t.steps[b], t.steps[a]
	return v, nil
}

func (t *Tensor) Slice(axis, start, stop, step int) (*Tensor, error) {
	axis, err := normal(axis, len(t.sizes), ErrAxis)
	if err != nil {
		return nil, err
	}
	if step == 0 {
		return nil, ErrStep
	}
	n := t.sizes[axis]
	v := t.twin()
	if step < 0 {
		// Backwards is forwards along an axis that was turned round, whose bounds are
		// turned round, too: index i there is n-1-i here.
		turn := func(i int) int {
			switch {
			case i == Open:
				return Open
			case i < -n:
				return n
			case i < 0:
				return -1 - i
			case i >= n:
				return 0
			}
			return n - 1 - i
		}
		start, stop = turn(start), turn(stop)
		if n > 0 {
			v.zero += (n - 1) * v.steps[axis]
		}
		v.steps[axis] = -v.steps[axis]
		if step = -step; step < 0 {
			step = math.MaxInt
		}
	}
	start, stop = forward(start, 0, n), forward(stop, n, n)
	v.sizes[axis] = 0
	if start < stop {
		v.sizes[axis] = 1 + (stop-1-start)/step
		v.zero += start * v.steps[axis]
		v.steps[axis] *= step
	}
	return v, nil
}

// forward is a bound from 0 to n.
func forward(i, missing, n int) int {
	if i == Open {
		return missing
	}
	if i < 0 {
		return max(i+n, 0)
	}
	return min(i, n)
}

func (t *Tensor) Select(axis, index int) (*Tensor, error) {
	axis, err := normal(axis, len(t.sizes), ErrAxis)
	if err != nil {
		return nil, err
	}
	n := t.sizes[axis]
	if index >= n || index < -n {
		return nil, ErrIndex
	}
	if index < 0 {
		index += n
	}
	v := t.twin()
	v.zero += index * t.steps[axis]
	v.drop(axis)
	return v, nil
}

func (t *Tensor) drop(axis int) {
	t.sizes = slices.Delete(t.sizes, axis, axis+1)
	t.steps = slices.Delete(t.steps, axis, axis+1)
}

func (t *Tensor) Squeeze(axes ...int) (*Tensor, error) {
	v := t.twin()
	if len(axes) == 0 {
		for k := len(v.sizes) - 1; k >= 0; k-- {
			if v.sizes[k] == 1 {
				v.drop(k)
			}
		}
		return v, nil
	}
	var sorted []int
	for _, a := range axes {
		a, err := normal(a, len(t.sizes), ErrAxis)
		if err != nil {
			return nil, err
		}
		if slices.Contains(sorted, a) {
			return nil, ErrAxis
		}
		if t.sizes[a] != 1 {
			return nil, ErrShape
		}
		sorted = append(sorted, a)
	}
	slices.Sort(sorted)
	for i := range sorted {
		v.drop(sorted[len(sorted)-1-i])
	}
	return v, nil
}

func (t *Tensor) Unsqueeze(axis int) (*Tensor, error) {
	axis, err := normal(axis, len(t.sizes)+1, ErrAxis)
	if err != nil {
		return nil, err
	}
	v := *t
	v.sizes = slices.Concat(t.sizes[:axis], []int{1}, t.sizes[axis:])
	v.steps = slices.Concat(t.steps[:axis], []int{-7}, t.steps[axis:]) // which nobody takes
	return &v, nil
}

func (t *Tensor) Expand(shape ...int) (*Tensor, error) {
	front := len(shape) - len(t.sizes)
	if front < 0 {
		return nil, ErrShape
	}
	v := &Tensor{t.buf, t.zero, slices.Clone(shape), make([]int, len(shape)), true}
	for k, n := range t.sizes {
		to := &v.sizes[front+k]
		if *to == -1 {
			*to = n
		}
		if *to == n {
			v.steps[front+k] = t.steps[k]
		} else if n != 1 {
			return nil, ErrShape
		}
	}
	if _, err := elements(v.sizes); err != nil {
		return nil, err
	}
	return v, nil
}

// full is a shape of all elements.
func (t *Tensor) full(shape []int) ([]int, error) {
	var positive []int
	missing := -1
	for k, n := range shape {
		if n != -1 {
			positive = append(positive, n)
		} else if missing >= 0 {
			return nil, ErrShape
		} else {
			missing = k
		}
	}
	p, err := elements(positive)
	if err != nil {
		return nil, err
	}
	if missing < 0 {
		if p != t.Len() {
			return nil, ErrShape
		}
		return shape, nil
	}
	if p == 0 || t.Len()%p != 0 {
		return nil, ErrShape
	}
	return slices.Replace(slices.Clone(shape), missing, missing+1, t.Len()/p), nil
}

// refit is NumPy's attempt to reshape without a copy.
func (t *Tensor) refit(shape []int) (*Tensor, bool) {
	v := &Tensor{t.buf, t.zero, slices.Clone(shape), compact(shape), t.constant}
	if t.Len() == 0 {
		return v, true
	}
	var olds, steps []int
	for k, n := range t.sizes {
		if n != 1 {
			olds, steps = append(olds, n), append(steps, t.steps[k])
		}
	}
	i, j := 0, 0
	for i < len(olds) && j < len(shape) {
		iEnd, jEnd := i+1, j+1
		p, q := olds[i], shape[j]
		for p != q {
			if q < p {
				q *= shape[jEnd]
				jEnd++
			} else {
				p *= olds[iEnd]
				iEnd++
			}
		}
		for k := i; k < iEnd-1; k++ {
			if steps[k] != olds[k+1]*steps[k+1] {
				return nil, false
			}
		}
		v.steps[jEnd-1] = steps[iEnd-1]
		for k := jEnd - 1; k > j; k-- {
			v.steps[k-1] = v.steps[k] * shape[k]
		}
		i, j = iEnd, jEnd
	}
	return v, true
}

func (t *Tensor) View(shape ...int) (*Tensor, error) {
	shape, err := t.full(shape)
	if err != nil {
		return nil, err
	}
	v, ok := t.refit(shape)
	if !ok {
		return nil, ErrLayout
	}
	return v, nil
}

func (t *Tensor) Reshape(shape ...int) (*Tensor, error) {
	shape, err := t.full(shape)
	if err != nil {
		return nil, err
	}
	if v, ok := t.refit(shape); ok {
		return v, nil
	}
	return wrap(t.Values(), shape), nil
}

func (t *Tensor) Clone() *Tensor { return wrap(t.Values(), t.sizes) }

func (t *Tensor) Contiguous() *Tensor {
	if !t.IsContiguous() {
		return t.Clone()
	}
	return t.twin()
}

func (t *Tensor) Fill(x float64) error {
	if t.constant {
		return ErrReadOnly
	}
	outer, inner := offsets(t.split())
	if t.Len() == 0 {
		return nil
	}
	for _, i := range outer {
		for _, j := range inner {
			t.buf[t.zero+i+j] = x
		}
	}
	return nil
}

func (t *Tensor) CopyFrom(from *Tensor) error {
	if t.constant {
		return ErrReadOnly
	}
	if !slices.Equal(t.sizes, from.sizes) {
		return ErrShape
	}
	if t.Len() == 0 {
		return nil
	}
	if &t.buf[0] == &from.buf[0] && t.lowest() <= from.highest() && from.lowest() <= t.highest() {
		from = from.Clone()
	}
	transfer(t, from)
	return nil
}

func (t *Tensor) lowest() int {
	place := t.zero
	for k, n := range t.sizes {
		place += min(0, (n-1)*t.steps[k])
	}
	return place
}

func (t *Tensor) highest() int {
	place := t.zero
	for k, n := range t.sizes {
		place += max(0, (n-1)*t.steps[k])
	}
	return place
}

// split cuts the axes where both halves have about as many elements.
func (t *Tensor) split() (sizes, steps []int, cut int) {
	n := 1
	if t.Len() == 0 {
		return t.sizes, t.steps, 0
	}
	for cut = len(t.sizes); cut > 1 && n*n < t.Len(); cut-- {
		n *= t.sizes[cut-1]
	}
	return t.sizes, t.steps, cut
}

// offsets are those of all indices of the axes before and behind the cut.
func offsets(sizes, steps []int, cut int) (outer, inner []int) {
	if slices.Contains(sizes, 0) {
		return nil, nil
	}
	table := func(sizes, steps []int) []int {
		list := []int{0}
		for k, n := range sizes {
			next := make([]int, 0, len(list)*n)
			for _, place := range list {
				for i := range n {
					next = append(next, place+i*steps[k])
				}
			}
			list = next
		}
		return list
	}
	return table(sizes[:cut], steps[:cut]), table(sizes[cut:], steps[cut:])
}

const band = 32

func transfer(to, from *Tensor) {
	sizes, steps, cut := from.split()
	fromOuter, fromInner := offsets(sizes, steps, cut)
	outer, inner := offsets(sizes, to.steps, cut)
	for low := 0; low < len(inner); low += band {
		high := min(low+band, len(inner))
		a, b := inner[low:high], fromInner[low:high]
		for k, i := range outer {
			i += to.zero
			j := fromOuter[k] + from.zero
			for m, offset := range a {
				to.buf[i+offset] = from.buf[j+b[m]]
			}
		}
	}
}
