package attention

import "sync"

// Heads says how many heads there are: of queries, and of keys and values. If there are
// fewer of the latter, neighbouring heads of queries share one: grouped-query attention
// (Ainslie et al., 2023).
type Heads struct {
	Query, KV int
}

// valid says whether each head of keys and values has as many heads of queries.
func (h Heads) valid() bool { return h.Query > 0 && h.KV > 0 && h.Query%h.KV == 0 }

// divide says whether so many columns of queries, keys and values can be divided among
// the heads.
func (h Heads) divide(q, k, v int) bool {
	return h.valid() && q > 0 && q%h.Query == 0 && k%h.KV == 0 && q/h.Query == k/h.KV && v%h.KV == 0
}

// MultiHead attends with each head by itself, and puts the results side by side.
func MultiHead(q, k, v Matrix, h Heads, opt Options) (Matrix, error) {
	if err := check(q, k, v, h, opt); err != nil {
		return Matrix{}, err
	}
	return multiHead(q, k, v, h, opt), nil
}

// multiHead is MultiHead of what is known to fit. It reads the columns of a head where
// they are, and copies none.
func multiHead(q, k, v Matrix, h Heads, opt Options) Matrix {
	keyDim, valueDim := q.Cols/h.Query, v.Cols/h.KV
	out := newMatrix(q.Rows, h.Query*valueDim)
	scale := opt.scaleFor(keyDim)
	const workers = 4
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			buffer := make([]float64, k.Rows)
			for i := worker; i < q.Rows; i += workers {
				see := opt.sight(i, k.Rows)
				if see.keys == 0 {
					continue
				}
				query, result, weights := q.row(i), out.row(i), buffer[:see.keys]
				for head := range h.Query {
					shared := head / (h.Query / h.KV)
					part := query[head*keyDim:][:keyDim]
					total := weigh(weights, part, k.Data[shared*keyDim:], k.Cols, scale, see)
					average(result[head*valueDim:][:valueDim], weights, v.Data[shared*valueDim:], v.Cols, total, see)
				}
			}
		})
	}
	all.Wait()
	return out
}
