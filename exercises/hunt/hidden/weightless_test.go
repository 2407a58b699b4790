package hidden

import (
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/hunt"
)

// weightless records what models say of values that are not finite, where the weights are 0: no
// sample had the feature, or each had a 0 of it, or the rate is 0, or nothing was learned.
func weightless(t *testing.T, o *observe.Observer) {
	r := o.Rand()
	for _, features := range []int{4, 300, 70_000} {
		list := []hunt.Sample{{X: hunt.Vector{{Index: 1, Value: 1 + r.Float64()}, {Index: 2}}, Class: 2}}
		for _, rate := range []float64{0, 1} {
			for epochs := range 3 {
				cfg := hunt.Config{Features: features, Classes: 3, Epochs: epochs, Batch: 1, Rate: rate, Seed: r.Uint64()}
				learned, _ := train(t, cfg, list)
				untaught, _ := train(t, cfg, nil)
				for _, m := range []*hunt.Model{learned, untaught} {
					recordWeightless(o, m, features)
				}
			}
		}
	}
}

// recordWeightless asks a model of its features but the second, alone and beside that.
func recordWeightless(o *observe.Observer, m *hunt.Model, features int) {
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64} {
		for _, f := range []int{0, 2, 3, features - 1} {
			one := hunt.Entry{Index: f, Value: value}
			beside := hunt.Vector{one, {Index: 1, Value: 1}}
			if f > 1 {
				slices.Reverse(beside)
			}
			for _, x := range []hunt.Vector{{one}, beside} {
				o.Floats("of a weight of 0", m.Probabilities(x), exact)
				o.Int("class of a weight of 0", m.Predict(x))
			}
		}
	}
}
