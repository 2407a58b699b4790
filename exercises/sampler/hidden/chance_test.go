package hidden

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"grade/observe"
)

// touched is a list of numbers that is in memory before anything is measured.
func touched(n int) []int32 { return slices.Repeat([]int32{-1}, n) }

// groupings records whether draws go by the weights, and whether those that stand near each
// other know of each other. Indices are counted in groups: by their order, by how large their
// weights are, and as the test draws it when the draws are over.
func groupings(o *observe.Observer, weights []float64, draws []int32) {
	far := below(o.Rand(), 2, 99)
	for _, order := range []struct {
		name    string
		indices []int
	}{{"by index", byIndex(weights)}, {"by weight", byWeight(weights)}, {"in groups", o.Rand().Perm(len(weights))}} {
		many, of := grouped(weights, order.indices, 16)
		one := newTally(many, 1)
		for _, i := range draws {
			one.add(group(of, i))
		}
		one.independent(o, "draws "+order.name)
		few, of := grouped(weights, order.indices, 8)
		for _, lag := range []int{1, far} {
			two := newTally(few, 2)
			for pairs := range slices.Chunk(draws[:len(draws)/(2*lag)*2*lag], 2*lag) {
				for k := range lag {
					two.add(group(of, pairs[k]), group(of, pairs[lag+k]))
				}
			}
			two.independent(o, "two draws "+order.name)
		}
	}
}

// grouped puts indices into n groups, in this order, and returns the weight of each group and
// the group of each index. An index of weight 0 is in none.
func grouped(weights []float64, order []int, n int) (sums []float64, of []int) {
	order = slices.DeleteFunc(slices.Clone(order), func(i int) bool { return weights[i] == 0 })
	sums, of = make([]float64, n), slices.Repeat([]int{-1}, len(weights))
	for rank, i := range order {
		of[i] = rank * n / len(order)
		sums[of[i]] += weights[i]
	}
	return sums, of
}

// group is the group of an index, or -1 if there is none.
func group(of []int, i int32) int {
	if i < 0 || int(i) >= len(of) {
		return -1
	}
	return of[i]
}

func byIndex(weights []float64) []int {
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	return order
}

func byWeight(weights []float64) []int {
	type weighed struct {
		weight float64
		index  int
	}
	list, order := make([]weighed, len(weights)), make([]int, len(weights))
	for i, w := range weights {
		list[i] = weighed{w, i}
	}
	slices.SortFunc(list, func(a, b weighed) int { return cmp.Compare(a.weight, b.weight) })
	for k, w := range list {
		order[k] = w.index
	}
	return order
}

// rarely gives some 6,000 of the weights, anywhere, a probability of some 4·10⁻⁸ each, and says
// which.
func rarely(r *rand.Rand, weights []float64) (rare []bool) {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	rare, w := make([]bool, len(weights)), sum*(2.5e-8+1.5e-8*r.Float64())
	for _, i := range r.Perm(len(weights))[:below(r, 5500, 6500)] {
		rare[i], weights[i] = true, w
	}
	return rare
}

// rareAgain records whether rare indices that were drawn come again too often, as in a Table that
// is a list of so few places that hardly any rare one has a place.
func rareAgain(o *observe.Observer, rare []bool, draws []int32) {
	n, hits, again, seen := 0, 0, 0, map[int32]bool{}
	for _, is := range rare {
		if is {
			n++
		}
	}
	for _, i := range draws {
		if i < 0 || int(i) >= len(rare) || !rare[i] {
			continue
		}
		if hits++; seen[i] {
			again++
		}
		seen[i] = true
	}
	// Each comes again with a probability of at most hits/n, whatever came before. So the number
	// of those that do, whose mean is 40 to 130, is above this bound once in 10¹⁰ times (Chernoff,
	// 1952).
	mean := float64(hits) * float64(hits) / 2 / float64(n)
	o.Bool("rare ones come again as seldom as they should", float64(again) < mean+7*math.Sqrt(mean)+6)
}

// rareAsOne returns weights and draws in which all that are rare are one index more, behind the
// others: alone none of them is drawn often enough to be counted.
func rareAsOne(weights []float64, rare []bool, draws []int32) (sums []float64, of []int32) {
	sums, of = append(slices.Clone(weights), 0), slices.Clone(draws)
	for i, w := range weights {
		if rare[i] {
			sums[i] = 0
			sums[len(weights)] += w
		}
	}
	for k, i := range of {
		if i >= 0 && int(i) < len(weights) && rare[i] {
			of[k] = int32(len(weights))
		} else if int(i) == len(weights) {
			of[k] = -1 // which there is not
		}
	}
	return sums, of
}

// inTurn records whether each index is drawn from the weights that those before it have left.
// Put side by side, these are a line; where on the line the index stands has to be anywhere,
// whether the line begins with the first weights or with the smallest ones.
func inTurn(o *observe.Observer, name string, weights []float64, indices []int) {
	for _, line := range []struct {
		name  string
		order []int
	}{{"by index", byIndex(weights)}, {"by weight", byWeight(weights)}} {
		places := onLine(o.Rand(), weights, line.order, indices)
		one, two := newTally(equals(25), 1), newTally(equals(5), 2)
		for pair := range slices.Chunk(places[:len(places)/2*2], 2) {
			one.add(int(25 * pair[0]))
			one.add(int(25 * pair[1]))
			two.add(int(5*pair[0]), int(5*pair[1]))
		}
		one.independent(o, name+", places "+line.name)
		two.independent(o, name+", two places "+line.name)
	}
}

// onLine returns where each index stands among the weights that are left, from 0 to below 1.
func onLine(r *rand.Rand, weights []float64, order, indices []int) []float64 {
	at := make([]int, len(weights))
	tree := make(sums, len(weights)+1)
	for k, i := range order {
		at[i] = k
		tree.add(k, weights[i])
	}
	places := make([]float64, len(indices))
	for j, i := range indices {
		total, within := tree.before(len(weights)), r.Float64()
		if places[j] = -1; i >= 0 && i < len(at) && total > 0 {
			places[j] = min((tree.before(at[i])+within*weights[i])/total, 1-1e-9)
			tree.add(at[i], -weights[i])
		}
	}
	return places
}

// sums is a tree of sums (Fenwick, A new data structure for cumulative frequency tables, 1994).
type sums []float64

func (s sums) add(k int, x float64) {
	for k++; k < len(s); k += k & -k {
		s[k] += x
	}
}

// before adds up what stands before place k.
func (s sums) before(k int) (sum float64) {
	for ; k > 0; k -= k & -k {
		sum += s[k]
	}
	return sum
}
