// Package einsum computes sums of products of tensors, written as equations: the
// product of two matrices is "ij,jk->ik". The meaning of an equation is that of
// torch.einsum (https://docs.pytorch.org/docs/stable/generated/torch.einsum.html),
// which differs from numpy.einsum in that axes behind an ellipsis may be summed.
//
// An equation is parsed into labels ([parse]), each label gets its size ([bind]), and
// every operand becomes a view without repeated labels. Then two views at a time are
// contracted into one ([contract]), in an order that is chosen by the sizes ([cheapest]),
// until one is left. The package knows no other number than float64, no memory layout but
// the one where the last axis is contiguous, and keeps no state.
package einsum

import "slices"

// Tensor is numbers in len(Shape) axes, the last of which is contiguous: element (i, j)
// of a matrix is Data[i*Shape[1]+j]. A scalar has no axes and one number.
type Tensor struct {
	Shape []int
	Data  []float64
}

// Einsum returns the sum of products of the operands that the equation describes. It
// writes to no operand, and the result shares memory with none. An error is an [*Error].
func Einsum(equation string, operands ...Tensor) (Tensor, error) {
	eq, err := parse(equation)
	if err != nil {
		return Tensor{}, err
	}
	views, sizes, err := bind(eq, operands)
	if err != nil {
		return Tensor{}, err
	}
	output := eq.outputLabels(sizes)
	result := Tensor{Shape: make([]int, len(output))}
	for i, l := range output {
		result.Shape[i] = sizes[l]
	}
	if sizes.empty() { // a sum of nothing is 0, whatever the operands are
		result.Data = make([]float64, volume(output, sizes))
	} else {
		result.Data = evaluate(views, output, sizes)
	}
	return result, nil
}

// evaluate contracts views until one is left, and lays that out along output. It
// changes the slice of views.
func evaluate(views []view, output []label, s sizes) []float64 {
	if len(views) == 1 {
		return views[0].copied(output, s)
	}
	for len(views) > 1 {
		i, j := cheapest(views, s)
		views[i] = contract(views[i], views[j], needed(views, i, j, output), s)
		views = slices.Delete(views, j, j+1)
	}
	return views[0].packed(output, s)
}
