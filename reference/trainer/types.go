package trainer

// This file is given. The grader puts its own copy in the place of yours, so
// what you change or add here is lost: write in trainer.go, or in further files.

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// Device names a place where tensors and models live.
type Device string

// CPU is where predictions are returned, and the Device that "" stands for in a
// Config.
const CPU Device = "cpu"

// Tensor holds some samples, or what a model made of them.
type Tensor interface {
	Len() int // how many samples
	Device() Device
	// To returns the same numbers on another device, and may fail.
	To(Device) (Tensor, error)
}

// Batch is some samples and what a model is to answer for them. Y may be nil
// where only predictions are wanted.
type Batch struct{ X, Y Tensor }

// Loader gives the batches of an epoch, one by one, or an error. It stops when
// the range over it does.
type Loader interface {
	Batches(ctx context.Context, epoch int) iter.Seq2[Batch, error]
}

// Model computes predictions. It has parameters, and for each a gradient.
type Model interface {
	To(Device) error
	SetTraining(bool)
	Training() bool
	// Forward wants x on the model's device, and remembers what Backward needs.
	Forward(ctx context.Context, x Tensor) (Tensor, error)
	// Backward adds to the gradients what the gradient of the last prediction
	// makes of them.
	Backward(grad Tensor) error
	// ScaleGrads multiplies all gradients by f.
	ScaleGrads(f float64)
	// ClipGrads shortens the vector of all gradients to maxNorm, if it is longer.
	ClipGrads(maxNorm float64)
}

// Optimizer changes the parameters of a model by its gradients.
type Optimizer interface {
	ZeroGrad() // sets all gradients to 0
	Step() error
}

// Loss compares a prediction with what was wanted. Mean is the loss of a sample,
// on average; sumGrad is the gradient of the sum over the samples, not of the
// mean, with respect to the prediction.
type Loss func(pred, y Tensor) (mean float64, sumGrad Tensor, err error)

// Config says how to train.
type Config struct {
	Device      Device     // where to compute; "" is CPU
	Epochs      int        // at least 1
	AccumSteps  int        // batches for one step of the optimizer, at least 1
	MaxGradNorm float64    // how long a gradient may be; 0 is as long as it likes
	Callbacks   []Callback // called in this order
}

// Callback has at least one of the methods below, from TrainStarter to TrainEnder.
type Callback any

// TrainStarter is called before everything else.
type TrainStarter interface {
	TrainStart(ctx context.Context) error
}

// BatchEnder is called after each training batch.
type BatchEnder interface {
	BatchEnd(ctx context.Context, b BatchInfo) error
}

// StepEnder is called after each step of the optimizer.
type StepEnder interface {
	StepEnd(ctx context.Context, s StepInfo) error
}

// EpochEnder is called after each epoch, its validation included.
type EpochEnder interface {
	EpochEnd(ctx context.Context, e EpochStats) error
}

// TrainEnder is called after everything else, with what Fit has come to.
type TrainEnder interface {
	TrainEnd(h History, err error) error
}

// BatchInfo tells of one batch of training.
type BatchInfo struct {
	Epoch, Batch int // both from 0; Batch anew in each epoch
	Samples      int
	Loss         float64 // of a sample, on average
}

// StepInfo tells of one step of the optimizer.
type StepInfo struct {
	Epoch, Step int // both from 0; Step anew in each epoch
	Samples     int // that the gradient was made of
}

// EpochStats tells of one epoch.
type EpochStats struct {
	Epoch     int     // from 0
	Samples   int     // trained on
	Steps     int     // of the optimizer
	TrainLoss float64 // of a sample, on average
	ValLoss   float64 // of a sample, on average; NaN without validation
}

// History has the epochs that were completed, in order.
type History struct{ Epochs []EpochStats }

// What ends a run.
var (
	// ErrStop is what a callback returns to end training, which is no failure.
	ErrStop = errors.New("trainer: stop")
	// ErrEmpty is an epoch, or an evaluation, without a sample.
	ErrEmpty = errors.New("trainer: no samples")
	// ErrNonFinite is a loss that is NaN or infinite.
	ErrNonFinite = errors.New("trainer: loss is not finite")
	// ErrConfig is what New finds wrong with its arguments.
	ErrConfig = errors.New("trainer: invalid configuration")
)

// BatchError says at which batch something went wrong.
type BatchError struct {
	Epoch, Batch int // both from 0; Batch anew in each epoch
	Err          error
}

func (e *BatchError) Error() string {
	return fmt.Sprintf("epoch %d, batch %d: %v", e.Epoch, e.Batch, e.Err)
}

// Unwrap returns what went wrong.
func (e *BatchError) Unwrap() error { return e.Err }
