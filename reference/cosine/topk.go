package cosine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// strip is how many rows and columns of the product TopK looks at together.
const strip = 128

// Neighbor is a row of b and its similarity.
type Neighbor[T Float] struct {
	Index int
	Score T
}

// TopK finds, for each row of a, the k rows of b that are most similar, best
// first. Equal scores are ordered by index; NaN is worse than any number.
func TopK[T Float](ctx context.Context, a, b Matrix[T], k int) ([][]Neighbor[T], error) {
	if err := checkOperands(a, b); err != nil {
		return nil, err
	}
	if k < 1 {
		return nil, fmt.Errorf("cosine: the best %d of a row", k)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	k = min(k, b.Rows)
	best := make([][]Neighbor[T], a.Rows)
	all := make([]Neighbor[T], a.Rows*k)
	p := newProduct(a, b)
	buffer := make([]T, min(strip, a.Rows)*min(strip, b.Rows))
	for row := 0; row < a.Rows; row += strip {
		rows := min(strip, a.Rows-row)
		for i := range rows {
			best[row+i] = all[(row+i)*k:][:0:k]
		}
		for col := 0; col < b.Rows; col += strip {
			cols := min(strip, b.Rows-col)
			sim := Matrix[T]{rows, cols, cols, buffer}
			if err := p.fill(ctx, sim, row, col); err != nil {
				return nil, err
			}
			for i := range rows {
				best[row+i] = offer(best[row+i], k, sim.row(i), col)
			}
		}
		for _, list := range best[row : row+rows] {
			slices.SortFunc(list, order)
		}
	}
	return best, nil
}

// offer puts the scores of the rows of b from first on into best, a heap of at
// most k with the worst on top. Later rows have higher indices, so one that is
// only as good as the worst stays outside.
func offer[T Float](best []Neighbor[T], k int, scores []T, first int) []Neighbor[T] {
	for j, s := range scores {
		n := Neighbor[T]{first + j, s}
		switch {
		case len(best) < k:
			best = append(best, n)
			up(best)
		case s <= best[0].Score: // almost always
		case order(n, best[0]) < 0:
			best[0] = n
			down(best)
		}
	}
	return best
}

// order is negative if x is the better neighbor. To cmp.Compare, NaN is less than
// any number.
func order[T Float](x, y Neighbor[T]) int {
	return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Index, y.Index))
}

// up moves the last of a heap to where it belongs.
func up[T Float](h []Neighbor[T]) {
	for i := len(h) - 1; i > 0 && order(h[i], h[(i-1)/2]) > 0; i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

// down moves the first of a heap to where it belongs.
func down[T Float](h []Neighbor[T]) {
	for i := 0; ; {
		worst := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(h) && order(h[child], h[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		h[i], h[worst] = h[worst], h[i]
		i = worst
	}
}
