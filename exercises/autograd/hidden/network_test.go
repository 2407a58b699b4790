package hidden

import (
	"math/rand/v2"

	"grade/reference/autograd"
)

// network is a multilayer perceptron with tanh between the layers.
type network struct {
	parameters []node
	weights    [][][]node // by layer, neuron, input; the last one is the bias
}

func newNetwork(r *rand.Rand, sizes ...int) *network {
	net := &network{}
	for l := 1; l < len(sizes); l++ {
		layer := make([][]node, sizes[l])
		for n := range layer {
			layer[n] = leaves(r, sizes[l-1]+1)
			net.parameters = append(net.parameters, layer[n]...)
		}
		net.weights = append(net.weights, layer)
	}
	return net
}

func (net *network) forward(in []node) []node {
	for l, layer := range net.weights {
		out := make([]node, len(layer))
		for n, ws := range layer {
			y := ws[len(in)]
			for i, x := range in {
				y = y.Add(ws[i].Mul(x))
			}
			if l < len(net.weights)-1 {
				y = y.Tanh()
			}
			out[n] = y
		}
		in = out
	}
	return in
}

// loss is the mean squared error over the samples xs with the targets ys.
func (net *network) loss(xs [][]float64, ys []float64) node {
	terms := make([]node, len(xs))
	for i, x := range xs {
		in := make([]node, len(x))
		for j := range x {
			in[j] = autograd.New(x[j])
		}
		off := net.forward(in)[0].Sub(autograd.New(ys[i]))
		terms[i] = off.Mul(off)
	}
	return autograd.Sum(terms...).Div(autograd.New(float64(len(xs))))
}

// step moves the parameters against their gradients.
func (net *network) step(rate float64) {
	for _, p := range net.parameters {
		p.SetData(p.Data() - rate*p.Grad())
	}
}

// dataset draws n points in the plane and a target for each.
func dataset(r *rand.Rand, n int) (xs [][]float64, ys []float64) {
	for range n {
		x := []float64{r.NormFloat64(), r.NormFloat64()}
		xs = append(xs, x)
		ys = append(ys, x[0]*x[1]+0.1*r.NormFloat64())
	}
	return xs, ys
}
