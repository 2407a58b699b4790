package hidden

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/gradcheck"
)

// scaled multiplies the gradient of input k by a factor.
func scaled(k int, factor float64) func(in, grads [][]float64, grad []float64) {
	return func(_, grads [][]float64, _ []float64) {
		for i := range grads[k] {
			grads[k][i] *= factor
		}
	}
}

// asking has no gradients of inputs that need none, and saves nothing for them.
// It refuses a Context that needs what there is not.
type asking struct{ fake }

var errNeeds = errors.New("there is no such input")

func (f asking) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	if slices.ContainsFunc([]int{-1, math.MinInt, len(in), len(in) + 1, 64, math.MaxInt}, c.Needs) {
		return nil, errNeeds
	}
	for i := range in {
		if !c.Needs(i) {
			return f.forward(in), nil
		}
	}
	return f.fake.Forward(c, in)
}

func (f asking) Backward(c *gradcheck.Context, grad []float64) ([][]float64, error) {
	grads, err := f.fake.Backward(c, grad)
	for i := range grads {
		if !c.Needs(i) {
			grads[i] = nil
		}
	}
	return grads, err
}

// clean counts its Forwards that find something in Saved before they have saved anything.
type clean struct {
	fake
	held *int
}

func (f clean) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	if saved, _ := c.Saved(); len(saved) > 0 {
		*f.held++
	}
	return f.fake.Forward(c, in)
}

// picks has an output for each of uses: the sum of that input, or 1 if it is below 0. It has no gradient
// of an input that an output does not use. That of one output has a wrong factor, unless wrong is
// below 0.
func picks(uses []int, wrong int) fake {
	return fake{
		forward: func(in [][]float64) []float64 {
			out := make([]float64, len(uses))
			for j, k := range uses {
				if out[j] = 1; k >= 0 {
					for _, x := range in[k] {
						out[j] += x
					}
				}
			}
			return out
		},
		backward: func(in [][]float64, grad []float64) [][]float64 {
			grads := make([][]float64, len(in))
			for j, k := range uses {
				if k < 0 || grad[j] == 0 {
					continue
				}
				if grads[k] == nil {
					grads[k] = make([]float64, len(in[k]))
				}
				for i := range grads[k] {
					if grads[k][i] += grad[j]; j == wrong {
						grads[k][i] += grad[j]
					}
				}
			}
			return grads
		},
	}
}

// total adds up three inputs. All gradients are one slice, that of the output times a factor; or the inputs
// count once, twice and three times, and the gradients are parts of one slice.
func total(factor float64, parts bool) fake {
	times := []float64{1, 1, 1}
	if parts {
		times = []float64{1, 2, 3}
	}
	return fake{
		forward: func(in [][]float64) []float64 {
			out := make([]float64, len(in[0]))
			for k, x := range in {
				for i, v := range x {
					out[i] += times[k] * v
				}
			}
			return out
		},
		backward: func(_ [][]float64, grad []float64) [][]float64 {
			n := len(grad)
			all := make([]float64, 3*n)
			for i, g := range grad {
				all[i], all[n+i], all[2*n+i] = times[1]*factor*g, times[0]*factor*g, times[2]*factor*g
			}
			if parts {
				return [][]float64{all[n : 2*n], all[:n], all[2*n:]}
			}
			return [][]float64{all[:n], all[:n], all[:n]}
		},
	}
}

// squares is half the sum of all squares, times a factor. The list of what is saved, which are the
// inputs, is that of the gradients, which are right for the factor 1.
func squares(factor float64) fake {
	return fake{
		forward: func(in [][]float64) []float64 {
			sum := 0.0
			for _, x := range in {
				for _, v := range x {
					sum += v * v
				}
			}
			return []float64{factor * sum / 2}
		},
		backward: func(saved [][]float64, _ []float64) [][]float64 { return saved },
	}
}

// Of a function whose gradient is right nothing is reported, and beside it a wrong one is found:
// functions of one, two and three inputs, of other lengths than their output, constant ones and
// gradients that are nil, for all outputs or for some of them (rules 17 and 18).
func TestCheckRight(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 5 {
		n := below(r, 3, 12)
		x, y := positive(r, n, 1), signed(r, n, 1)
		check(o, "right", smooth(1, nil), x, y)
		check(o, "wrong", smooth(1, scaled(0, 2)), x, y)
		check(o, "right, of all that is needed", asking{smooth(1, nil)}, x, y)
		held := 0
		check(o, "right, with Saved looked at", clean{smooth(1, nil), &held}, x, y)
		o.Int("Forwards that began with what another had saved", held)
		dot := func(factor float64) fake { // and a third input that is not used
			return fake{
				forward: func(in [][]float64) []float64 {
					s := 0.0
					for i, v := range in[0] {
						s += v * v * math.Abs(in[1][i%2])
					}
					return []float64{s}
				},
				backward: func(in [][]float64, grad []float64) [][]float64 {
					g := [][]float64{make([]float64, len(in[0])), make([]float64, 2), nil}
					for i, v := range in[0] {
						g[0][i] = factor * 2 * v * in[1][i%2] * grad[0]
						g[1][i%2] += v * v * grad[0]
					}
					return g
				},
			}
		}
		check(o, "a sum", dot(1), x, positive(r, 2, 1), signed(r, 4, 1))
		check(o, "a wrong sum", dot(1.5), x, positive(r, 2, 1), signed(r, 4, 1))
		wave := func(add float64) fake {
			return fake{
				forward: func(in [][]float64) []float64 {
					out := []float64{}
					for _, v := range in[0] {
						out = append(out, math.Sin(v)+2, math.Exp(v), v*v*v)
					}
					return out
				},
				backward: func(in [][]float64, grad []float64) [][]float64 {
					g := make([]float64, len(in[0]))
					for i, v := range in[0] {
						g[i] = math.Cos(v)*grad[3*i] + (add+math.Exp(v))*grad[3*i+1] + 3*v*v*grad[3*i+2]
					}
					return [][]float64{g}
				},
			}
		}
		check(o, "the input itself", fake{ // and the gradient itself
			forward:  func(in [][]float64) []float64 { return in[0] },
			backward: func(_ [][]float64, grad []float64) [][]float64 { return [][]float64{grad} },
		}, x)
		check(o, "the input itself, wrong", fake{
			forward: func(in [][]float64) []float64 { return in[0] },
			backward: func(_ [][]float64, grad []float64) [][]float64 {
				grad = slices.Clone(grad)
				grad[0] *= 2
				return [][]float64{grad}
			},
		}, x)
		for _, factor := range []float64{1, 2} {
			check(o, of(factor == 1, "one slice for all gradients"), total(factor, false), x, y, signed(r, n, 1))
			check(o, of(factor == 1, "parts of one slice for all gradients"), total(factor, true), x, y, signed(r, n, 1))
			check(o, of(factor == 1, "the list of Saved for gradients"), squares(factor), x, y)
		}
		check(o, "three outputs an input", wave(0), signed(r, n, 1))
		check(o, "three outputs an input, wrong", wave(0.5), signed(r, n, 1))
	}
	for _, uses := range [][]int{{0, 1}, {1, 0}, {0, -1}, {-1, 0}, {1, -1, 1}, {0, 2, -1, 1, 0}, r.Perm(3)} {
		for wrong := -1; wrong < len(uses); wrong++ {
			first := wrong < 0 || uses[wrong] <= 0
			check(o, of(first, "nil for some outputs"), picks(uses, wrong), signed(r, 2, 1), signed(r, 3, 1), signed(r, 1, 1))
		}
	}
	constant := fake{
		forward:  func([][]float64) []float64 { return []float64{3, 4} },
		backward: func([][]float64, []float64) [][]float64 { return [][]float64{nil} },
	}
	check(o, "constant", constant, signed(r, 3, 1))
	constant.backward = func(in [][]float64, grad []float64) [][]float64 { return [][]float64{slices.Clone(in[0])} }
	check(o, "constant, wrong", constant, signed(r, 3, 1))
	check(o, "of no element", constant, []float64{})
	for _, none := range [][]float64{{}, nil} {
		check(o, "without outputs", fake{
			forward:  func([][]float64) []float64 { return none },
			backward: func(in [][]float64, _ []float64) [][]float64 { return make([][]float64, len(in)) },
		}, signed(r, 3, 1))
	}
}

// A gradient of the wrong sign, with a wrong factor, without one of its terms, or without any, is
// wrong at each place that this concerns (rule 18).
func TestCheckWrong(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 6 {
		n := below(r, 3, 10)
		x, y := positive(r, n, 1), signed(r, n, 1)
		for _, factor := range []float64{-1, 0.5, 2, 1.01, 0.99, 1000, 0, 1 + r.Float64()} {
			check(o, "sign or factor", smooth(1, scaled(0, factor)), x, y)
		}
		check(o, "a missing term", smooth(1, func(in, grads [][]float64, grad []float64) {
			for i, g := range grad {
				grads[0][(i+1)%n] -= in[1][i] / 2 * g
			}
		}), x, y)
		check(o, "the other missing term", smooth(1, func(in, grads [][]float64, grad []float64) {
			for i, g := range grad {
				grads[0][i] -= 2 * in[0][i] * in[1][i] * g
			}
		}), x, y)
		check(o, "two terms that cancel in the sum", smooth(1, func(_, grads [][]float64, grad []float64) {
			grads[0][0] += grad[0] - grad[1]
		}), x, y)
		check(o, "none", smooth(1, func(_, grads [][]float64, _ []float64) { grads[0] = nil }), x, y)
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			check(o, "not a number", smooth(1, func(_, grads [][]float64, _ []float64) { grads[0][n-1] = bad }), x, y)
		}
	}
}

// A gradient that is wrong at one coordinate only, of one output only, is found there and
// nowhere else (rule 18).
func TestCheckOne(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 4 {
		n := below(r, 3, 12)
		x, y := positive(r, n, 1), signed(r, n, 1)
		for i := range n {
			check(o, "one coordinate", smooth(1, func(_, grads [][]float64, _ []float64) { grads[0][i] *= 1.5 }), x, y)
		}
		j := r.IntN(n)
		check(o, "of one output", smooth(1, func(in, grads [][]float64, grad []float64) { grads[0][0] += in[1][j] * grad[j] }), x, y)
		check(o, "exchanged", smooth(1, func(_, grads [][]float64, _ []float64) {
			grads[0][0], grads[0][n-1] = grads[0][n-1], grads[0][0]
		}), x, y)
	}
	for _, m := range []int{1, 2, 3, 9, 17, 33, 65, 129, 257, 1025} {
		for k := range 2 {
			for _, j := range []int{m - 1, r.IntN(m)} {
				i := r.IntN(3)
				check(o, of(k == 0, "of one output of many"), many(m, func(_, grads [][]float64, grad []float64) { grads[k][i] += 3 * grad[j] }),
					positive(r, 3, 1), positive(r, 3, 1))
			}
		}
	}
}

// The gradient of the second input, and of any further one, is checked as that of the first (rule
// 18).
func TestCheckSecond(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 5 {
		n := below(r, 3, 10)
		x, y := positive(r, n, 1), signed(r, n, 1)
		check(o, "second", smooth(1, scaled(1, 0.5+0.4*r.Float64())), x, y)
		i := r.IntN(n)
		check(o, "second, one coordinate", smooth(1, func(_, grads [][]float64, _ []float64) { grads[1][i] = -grads[1][i] }), x, y)
		check(o, "both", smooth(1, func(_, grads [][]float64, _ []float64) {
			grads[1][i] *= 2
			grads[0][n-1] *= 2
		}), x, y)
		k := 1 + r.IntN(3)
		in := [][]float64{signed(r, 2, 1), signed(r, 2, 1), signed(r, 2, 1), signed(r, 2, 1)}
		check(o, "one of four", fake{
			forward: func(in [][]float64) []float64 {
				return []float64{3 * in[0][0] * in[1][0], 2 * in[2][1] * in[3][1]}
			},
			backward: func(in [][]float64, grad []float64) [][]float64 {
				g := [][]float64{{3 * in[1][0] * grad[0], 0}, {3 * in[0][0] * grad[0], 0}, {0, 2 * in[3][1] * grad[1]}, {0, 2 * in[2][1] * grad[1]}}
				g[k][k/2] += 5 * grad[k/2]
				return g
			},
		}, in...)
	}
}

// wave makes of each x the number f·sin(w·x), whose derivative is large beside f where w is. factor
// makes the gradient wrong.
func wave(f, w, factor float64) fake {
	return fake{
		forward: func(in [][]float64) (out []float64) {
			for _, x := range in[0] {
				out = append(out, f*math.Sin(w*x))
			}
			return out
		},
		backward: func(in [][]float64, grad []float64) [][]float64 {
			g := make([]float64, len(in[0]))
			for i, x := range in[0] {
				g[i] = grad[i] * f * w * math.Cos(w*x) * factor
			}
			return [][]float64{g}
		},
	}
}

// phases are numbers up to scale at which a wave that goes round w times is steep.
func phases(r *rand.Rand, w, scale float64) []float64 {
	x := []float64{scale}
	for range below(r, 3, 6) {
		x = append(x, (math.Pi*float64(below(r, -20, 20))+0.8*r.Float64())/w*scale)
	}
	return x
}

// Inputs have any scale from 10⁻⁶ to 10⁸, each its own: what is right is not reported, and what is
// wrong is (rules 16 and 18).
func TestCheckScales(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, a := range []float64{1e-6, 1e-3, 1, 1e4, 1e8} {
		for _, b := range []float64{1e-6, 1, 1e8} {
			n := below(r, 3, 8)
			x, y := positive(r, n, a/2), signed(r, n, b/2)
			if r.IntN(2) == 0 {
				y[r.IntN(n)] = 0
			}
			check(o, "right", smooth(a, nil), x, y)
			check(o, "wrong", smooth(a, scaled(0, 1.1)), x, y)
			check(o, "wrong second", smooth(a, scaled(1, 1.1)), x, y)
			check(o, "wrong sign", smooth(a, scaled(r.IntN(2), -1)), x, y)
		}
	}
	for _, f := range []float64{1e-100, 1e-30, 1, 1e30, 1e100} {
		w := math.Pi*float64(below(r, 25, 37)) + 0.8*r.Float64()
		scale := []float64{1e-6, 1, 1e8}[r.IntN(3)]
		for _, factor := range []float64{1, 1 + 1e-5, 1 + 2e-3, -1} {
			check(o, "waves", wave(f, w/scale, factor), phases(r, w, scale))
		}
	}
	for _, scale := range []float64{1e-6, 1, 1e8} {
		line := fake{
			forward: func(in [][]float64) []float64 {
				out := []float64{1} // the size of the outputs
				for _, v := range in[0] {
					out = append(out, 1+v/scale)
				}
				return out
			},
			backward: func(in [][]float64, grad []float64) [][]float64 {
				g := make([]float64, len(in[0]))
				for i := range g {
					g[i] = grad[i+1] / scale
				}
				return [][]float64{g}
			},
		}
		check(o, "outputs of 1", line, signed(r, 4, scale/2))
	}
	ones := fake{
		forward: func(in [][]float64) []float64 { return []float64{2 + math.Sin(in[0][0]), 3 * in[0][1]} },
		backward: func(in [][]float64, grad []float64) [][]float64 {
			return [][]float64{{math.Cos(in[0][0]) * grad[0], 3.5 * grad[1]}}
		},
	}
	check(o, "zeros", ones, []float64{0, 0})

	// Where all outputs are 0, so is F: only what is in proportion to the derivatives may differ.
	for _, scale := range []float64{1e-6, 1, 1e8} {
		for _, size := range []float64{1e-90, 1e-30, 1e-9} {
			slope := size * (1 + r.Float64()) / scale
			for _, part := range []struct{ right, grad float64 }{
				{1, 1}, {1, 2}, {1, 0}, {1, -1}, {3, 2}, {3, 5}, {3, 0},
				{1.002, 1.001}, {1.05, 1.025}, // five times below what makes a kink, and above
				{3, 3 + 3e-5}, {3, 1 - 3e-5}, {3, 3 + 6e-3}, {3, 1 - 6e-3}, // a tenth of what is allowed outside, and 20 times
			} {
				f := fake{
					forward: func(in [][]float64) []float64 {
						return []float64{0, slope * (min(in[0][0], 0) + part.right*max(in[0][0], 0))}
					},
					backward: func(_ [][]float64, grad []float64) [][]float64 {
						return [][]float64{{part.grad * slope * grad[1], 0}}
					},
				}
				check(o, "outputs of 0", f, []float64{0, scale})
				if scale == 1 {
					check(o, "outputs of 0, inputs of 0", f, []float64{0, 0})
				}
			}
		}
	}

	// The step is that of the largest number, be it below 0 and wherever it is: a bend within a step
	// is a kink, and one a bit further is none.
	for range 4 {
		scales := []float64{1e-6, 1, 1e8, 1}
		r.Shuffle(3, func(i, j int) { scales[i], scales[j] = scales[j], scales[i] })
		for first := range 5 {
			in, at := make([][]float64, 4), make([][]float64, 4)
			for k, scale := range scales {
				in[k], at[k] = make([]float64, 5), make([]float64, 5)
				most := (first + k) % 5
				for i := range in[k] {
					if k < 3 { // the last input is 0
						in[k][i] = scale * (0.3 + 0.2*r.Float64()) * float64(1-first%2*2)
						in[k][most] = -scale
					}
				}
				for i, x := range in[k] {
					far := []float64{-1.15, -0.85, 0.85, 1.15}[r.IntN(4)]
					switch i {
					case most:
						far = 0.85
					case (most + 1) % 5:
						far = 1.15
					}
					at[k][i] = x + far*scale/(1<<17)
				}
			}
			bends := func(add float64) fake {
				return fake{
					forward: func(in [][]float64) (out []float64) {
						for k, x := range in {
							for i, v := range x {
								out = append(out, (v-at[k][i]+2*max(v-at[k][i], 0))/scales[k])
							}
						}
						return out
					},
					backward: func(in [][]float64, grad []float64) (grads [][]float64) {
						for k, x := range in {
							g := make([]float64, len(x))
							for i, v := range x {
								if g[i] = 1 + add; v > at[k][i] {
									g[i] += 2
								}
								g[i] *= grad[k*len(x)+i] / scales[k]
							}
							grads = append(grads, g)
						}
						return grads
					},
				}
			}
			check(o, "bends", bends(0), in...)
			check(o, "bends, wrong", bends(-1.5), in...)
		}
	}

	// F is the largest of all outputs, below 0 too: what differs by less than its part is right.
	for _, m := range []int{1, 2, 3, 4, below(r, 5, 9), 40} {
		for _, p := range []int{0, m - 1, r.IntN(m)} {
			for _, scale := range []float64{1e-6, 1, 1e8} {
				f := []float64{1e-3, 1, 1e4}[r.IntN(3)] * (1 + r.Float64()) * float64(2*r.IntN(2)-1)
				j := r.IntN(m)
				ratio := math.Abs(f) / scale
				for _, part := range []struct{ bend, off float64 }{{0, 1e-7}, {0, 2e-5}, {1e-5, 0.5e-5}, {2e-3, 2e-3}, {2e-3, 1e-3}, {2e-3, 2e-3 + 1e-7}, {2e-3, 2e-3 + 2e-5}} {
					check(o, "beside a large output", fake{
						forward: func(in [][]float64) []float64 {
							out := make([]float64, m)
							out[p] = f
							out[j] += part.bend * ratio * max(in[0][0], 0)
							return out
						},
						backward: func(_ [][]float64, grad []float64) [][]float64 {
							return [][]float64{{part.off * ratio * grad[j], 0}}
						},
					}, []float64{0, scale})
				}
			}
		}
	}
}

// bent has one slope below 0, another above it, and at it the gradient that it says.
func bent(left, right float64, at []float64) fake {
	return fake{
		forward: func(in [][]float64) []float64 {
			out := make([]float64, len(in[0]))
			for i, x := range in[0] {
				if out[i] = right * x; x < 0 {
					out[i] = left * x
				}
			}
			return out
		},
		backward: func(in [][]float64, grad []float64) [][]float64 {
			g := make([]float64, len(in[0]))
			for i, x := range in[0] {
				switch {
				case x < 0:
					g[i] = left * grad[i]
				case x > 0:
					g[i] = right * grad[i]
				default:
					g[i] = at[i] * grad[i]
				}
			}
			return [][]float64{g}
		},
	}
}

// slopes draws two that differ.
func slopes(r *rand.Rand) (left, right float64) {
	left = 4*r.Float64() - 2
	right = left + (0.3+r.Float64())*float64(2*r.IntN(2)-1)
	return left, right
}

// A kink is reported as one; there every gradient is right between what both sides have, and
// wrong outside. A kink less than a step away is one as well (rule 19).
func TestCheckKinks(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, scale := range []float64{1e-6, 1, 1, 1, 1e8} {
		for range 6 {
			left, right := slopes(r)
			n := below(r, 6, 9)
			x, at := signed(r, n, scale), make([]float64, n)
			for i, part := range []float64{0, 1, 0.5, 0.1 + 0.8*r.Float64(), -0.5, 1.5} {
				at[i] = left + part*(right-left)
				x[i] = 0
			}
			x = append(x, 2*scale)
			at = append(at, 0)
			r.Shuffle(n, func(i, j int) { x[i], x[j], at[i], at[j] = x[j], x[i], at[j], at[i] })
			check(o, "at a kink", bent(left, right, at), x)
			near := slices.Clone(x)
			for i := range n {
				if near[i] == 0 {
					near[i] = 2 * scale / (1 << 17) * (0.3 - 0.6*r.Float64())
				}
			}
			check(o, "near a kink", bent(left, right, at), near)
			f := bent(left, right, at)
			was := f.backward
			f.backward = func(in [][]float64, grad []float64) [][]float64 {
				g := was(in, grad)
				g[0][n] += grad[n] // not at a kink
				return g
			}
			check(o, "wrong elsewhere", f, x)
		}
	}
	check(o, "all at a kink", bent(0, 1, make([]float64, 3)), make([]float64, 3))
	check(o, "all at a kink, wrong", bent(0, 1, []float64{0, 2, 1}), make([]float64, 3))

	// Each output is looked at, whatever is true of the others at the same place.
	const (
		plain = iota
		plainWrong
		kink
		kinkWrong
		kinkNaN
		kinkInf
	)
	for _, kinds := range [][]int{
		{kink, plainWrong}, {plainWrong, kink}, {kink, kinkWrong}, {kinkWrong, kink}, {kinkWrong, plain}, {plain, kinkWrong},
		{kink, plain}, {plain, kink}, {plain, kink, plain}, {kink, kink, plainWrong}, {plainWrong, plain, kink}, {kink, plain, plainWrong},
		{kink, plain, kink, kinkWrong, plain}, {kinkNaN}, {kinkInf}, {kinkNaN, kink}, {kink, kinkInf}, {kink, kinkNaN, plain},
	} {
		for k := range 3 {
			left, right, at := make([]float64, len(kinds)), make([]float64, len(kinds)), make([]float64, len(kinds))
			for j, kind := range kinds {
				left[j], right[j] = slopes(r)
				switch kind {
				case plain:
					right[j] = left[j]
					at[j] = left[j]
				case plainWrong:
					right[j] = left[j]
					at[j] = left[j] + 0.5
				case kink:
					at[j] = left[j] + (right[j]-left[j])*r.Float64()
				case kinkWrong:
					at[j] = left[j] + (right[j]-left[j])*float64(2-3*r.IntN(2))
				case kinkNaN:
					at[j] = math.NaN()
				case kinkInf:
					at[j] = math.Inf(2*r.IntN(2) - 1)
				}
			}
			i, n := r.IntN(4), 4
			in := [][]float64{signed(r, n, 1), signed(r, n, 1), signed(r, n, 1)}
			in[k][i] = 0
			check(o, of(k == 0, "several outputs"), fake{
				forward: func(in [][]float64) []float64 {
					out := make([]float64, len(kinds))
					for j := range out {
						out[j] = left[j]*min(in[k][i], 0) + right[j]*max(in[k][i], 0)
					}
					return out
				},
				backward: func(_ [][]float64, grad []float64) [][]float64 {
					grads := make([][]float64, 3)
					grads[k] = make([]float64, n)
					for j, g := range grad {
						if g != 0 {
							grads[k][i] += at[j] * g
						}
					}
					return grads
				},
			}, in...)
		}
	}
}

// lengths returns equal numbers, another count in each call: it goes down to 1 first, and up from there
// to what was not there yet.
func lengths(down int) fake {
	calls := 0
	return fake{
		forward: func(in [][]float64) []float64 {
			n := calls + 1
			if calls++; calls <= down {
				n = down + 1 - calls
			}
			return slices.Repeat([]float64{3 * in[0][0]}, n)
		},
		backward: func(in [][]float64, grad []float64) [][]float64 {
			g := make([]float64, len(in[0]))
			for _, v := range grad {
				g[0] += 3 * v
			}
			return [][]float64{g}
		},
	}
}

// A function or a gradient that is another one in each call is unstable, be it in the last bits of
// one number or by the length of the output alone, and nothing else is said of it (rule 20).
func TestCheckUnstable(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 6 {
		n, calls := below(r, 3, 9), 0
		x, y := positive(r, n, 1), signed(r, n, 1)
		bits := func(v float64) float64 { // v and another last digit each time
			calls++
			return math.Float64frombits(math.Float64bits(v) + uint64(calls))
		}
		for k := range 2 {
			at := r.IntN(n)
			check(o, "gradient", smooth(1, func(_, grads [][]float64, _ []float64) { grads[k][at] = bits(grads[k][at]) }), x, y)
		}
		for when := 1; when <= 2; when++ {
			j, k, at, calls := r.IntN(n), r.IntN(2), r.IntN(n), 0
			check(o, "gradient, not a number in one call", smooth(1, func(_, grads [][]float64, grad []float64) {
				if grad[j] == 0 {
					return
				}
				if calls++; calls == when {
					grads[k][at] = math.NaN()
				} else {
					grads[k][at] = bits(grads[k][at])
				}
			}), x, y)
		}
		g := rand.New(rand.NewPCG(r.Uint64(), 1)) // how often it is called is open
		check(o, "gradient, by chance", smooth(1, func(_, grads [][]float64, _ []float64) { grads[0][0] += g.Float64() }), x, y)
		f := smooth(1, nil)
		forward, at := f.forward, r.IntN(n)
		f.forward = func(in [][]float64) []float64 {
			out := forward(in)
			out[at] = bits(out[at])
			return out
		}
		check(o, "output", f, x, y)
		check(o, "stable", smooth(1, scaled(0, 2)), x, y)
		for j := range n {
			for k := range 2 {
				at := r.IntN(n)
				check(o, "gradient of one output", smooth(1, func(_, grads [][]float64, grad []float64) {
					if grad[j] != 0 {
						grads[k][at] = bits(grads[k][at])
					}
				}), x, y)
			}
			f.forward = func(in [][]float64) []float64 {
				out := forward(in)
				out[j] = bits(out[j])
				return out
			}
			check(o, "one output", f, x, y)
		}
		for _, down := range []int{0, 1, 5, 40} {
			check(o, "another length", lengths(down), x)
		}
		for _, m := range []int{65, 129, 257} {
			k := r.IntN(2)
			check(o, "gradient of the last of many", many(m, func(_, grads [][]float64, grad []float64) {
				if grad[m-1] != 0 {
					grads[k][1] = bits(grads[k][1])
				}
			}), x, y)
		}
		odd := func() float64 { // a NaN of any sign and with any bits
			return math.Float64frombits(g.Uint64() | 0x7ff8<<48)
		}
		for k := range 2 {
			for at := range n {
				f := smooth(1, func(_, grads [][]float64, _ []float64) { grads[k][at] = odd() })
				report, err := gradcheck.Check(f, x, y) // where it is wrong is no matter of this test
				o.Bool("stable and any NaN", err == nil && report != nil && !report.Unstable)
			}
		}
		f.forward = func(in [][]float64) []float64 {
			out := forward(in)
			out[at] = odd()
			return out
		}
		check(o, "not finite by any NaN", f, x, y)
		check(o, "stable and not a number", smooth(1, func(_, grads [][]float64, _ []float64) { grads[0][at] = math.NaN() }), x, y)
	}
}

// refuses is a Function that fails in one of its methods.
type refuses struct {
	fake
	forward, backward error
	of                int // Backward fails for the gradient of this output only, counted from 1
	x, y              []float64
}

func (f refuses) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	if f.forward != nil {
		return f.fake.forward(in), f.forward
	}
	return f.fake.Forward(c, in)
}

func (f refuses) Backward(c *gradcheck.Context, grad []float64) ([][]float64, error) {
	if f.backward != nil && (f.of == 0 || grad[f.of-1] != 0) {
		return f.fake.backward([][]float64{f.x, f.y}, grad), f.backward
	}
	return f.fake.Backward(c, grad)
}

// Errors of the Function come out of Check; gradients of the wrong number or length are ErrGradients,
// and an output that is not finite is ErrFinite. There is no report then (rule 21).
func TestCheckErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	n := below(r, 3, 9)
	x, y := positive(r, n, 1), signed(r, n, 1)
	one, two := errors.New("one"), errors.New("two")
	fails := []refuses{{forward: one}, {backward: two}, {forward: one, backward: two}}
	for j := range n {
		fails = append(fails, refuses{backward: two, of: j + 1})
	}
	for _, f := range fails {
		f.fake, f.x, f.y = smooth(1, nil), x, y
		report, err := gradcheck.Check(f, x, y)
		o.Error("error of a method", err, one, two)
		o.Bool("a report", report != nil)
	}
	for _, broken := range []func(in, g [][]float64, grad []float64){
		func(_, g [][]float64, _ []float64) { g[0] = g[0][1:] },
		func(_, g [][]float64, _ []float64) { g[1] = append(g[1], 0) },
		func(_, g [][]float64, _ []float64) { g[1] = []float64{} },
	} {
		check(o, "length", smooth(1, broken), x, y)
	}
	for j := range n { // for the gradient of one output only
		for k := range 2 {
			for _, size := range []int{0, 1, n + 1} {
				check(o, "length for one output", smooth(1, func(_, g [][]float64, grad []float64) {
					if grad[j] != 0 {
						g[k] = make([]float64, size)
					}
				}), x, y)
			}
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			f := smooth(1, nil)
			forward := f.forward
			f.forward = func(in [][]float64) []float64 {
				out := forward(in)
				out[j] = bad
				return out
			}
			check(o, "one output not finite", f, x, y)
		}
	}
	for _, m := range []int{65, 129, 257} {
		report, err := gradcheck.Check(refuses{fake: many(m, nil), backward: two, of: m, x: x, y: y}, x, y)
		o.Error("error for the last of many", err, one, two)
		o.Bool("a report", report != nil)
	}
	for k := range 3 {
		sizes := []int{0, 1, n}
		for _, size := range []int{0, 1, 3, n - 1, n, n + 1, 1 << 16, 1<<16 + sizes[k]} {
			check(o, "one length", sized(sizes, k, size), []float64{}, x[:1], x)
		}
		check(o, "length of no element", sized([]int{0, 0, 0}, k, 1+r.IntN(3)), nil, []float64{}, x[:0])
	}
	for _, in := range [][][]float64{{x[:0]}, {nil, {}}} { // nothing to move
		f := fake{
			forward:  func([][]float64) []float64 { return []float64{1, math.Inf(1)} },
			backward: func(in [][]float64, grad []float64) [][]float64 { return make([][]float64, len(in)) },
		}
		check(o, "not finite, of no element", f, in...)
		report, err := gradcheck.Check(refuses{fake: smooth(1, nil), forward: one}, x[:0], x[:0])
		o.Error("error of no element", err, one, two)
		o.Bool("a report", report != nil)
	}
	for _, count := range []int{0, 1, 3} {
		f := smooth(1, nil)
		right := f.backward
		f.backward = func(in [][]float64, grad []float64) [][]float64 { return append(right(in, grad), nil)[:count] }
		check(o, "number", f, x, y)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		f := smooth(1, nil)
		forward := f.forward
		f.forward = func(in [][]float64) []float64 {
			out := forward(in)
			out[n-1] = bad
			return out
		}
		check(o, "not finite", f, x, y)
	}
	check(o, "neither", smooth(1, scaled(0, 2)), x, y)
}
