// Package amp holds what keeps a training in range: gradients that are too large are
// clipped ([Clip]), the learning rate warms up and then falls ([Scheduler]), the loss is
// scaled so that small gradients do not vanish in a short number format ([Scaler]), and a
// [Stepper] puts the three together in the order that they need.
//
//	sc, err := amp.NewScaler(amp.ScalerConfig{})
//	sd, err := amp.NewScheduler(amp.Schedule{Peak: 3e-4, Warmup: 100, Total: 10_000})
//	st, err := amp.NewStepper(sc, sd, 1, 2)
//	for _, batch := range batches {
//		backward(sc.Scale(loss(batch)))
//		report, err := st.Step(optimizer)
//	}
//
// The package knows gradients and an [Optimizer] that uses them. It knows neither models
// nor losses, and no number format: all numbers are float64.
package amp

import "errors"

var (
	// ErrNonFinite means that a gradient is NaN or infinite, so that there is nothing to
	// clip.
	ErrNonFinite = errors.New("amp: a gradient is NaN or infinite")

	// ErrUnscaled means that the gradients of an optimizer have been divided by the scale
	// already, since the last Update.
	ErrUnscaled = errors.New("amp: the optimizer has been unscaled since the last Update")

	// ErrStepped means that an optimizer has had its step since the last Update.
	ErrStepped = errors.New("amp: the optimizer has been stepped since the last Update")

	// ErrNothing means that there was no optimizer to learn from.
	ErrNothing = errors.New("amp: no optimizer since the last Update")
)

// Optimizer changes parameters by their gradients.
type Optimizer interface {
	// Grads returns the gradients, a slice for each parameter, in live storage: what is
	// written into them is what Step uses. A parameter without a gradient has nil.
	Grads() [][]float64

	// Step changes the parameters, with the learning rate given.
	Step(rate float64)
}
