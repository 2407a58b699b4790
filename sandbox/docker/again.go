package docker

import (
	"context"
	"errors"
	"time"

	"github.com/containerd/errdefs"
)

// An engine under load fails now and then: it cuts a connection, is slow, cannot make a
// control group, or another process has removed an image. None of that says anything about
// what was asked, so every call is repeated, each time from the start.

// pauses are the waits before a call is repeated.
var pauses = []time.Duration{100 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second}

// repeatFor is how long a call that fails is repeated.
const repeatFor = 2 * time.Minute

// forGood marks an error that no repetition mends, or that was repeated before.
type forGood struct{ error }

func (e forGood) Unwrap() error { return e.error }

// again calls do until it succeeds, and returns its last error.
func again(ctx context.Context, do func() error) (err error) {
	begun := time.Now()
	for _, pause := range append([]time.Duration{0}, pauses...) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err = do(); err == nil || lasting(err) || ctx.Err() != nil || time.Since(begun) > repeatFor {
			break
		}
	}
	return err
}

// lasting reports whether an error would be the same another time.
func lasting(err error) bool {
	_, known := errors.AsType[forGood](err)
	return known || errdefs.IsInvalidArgument(err) || errdefs.IsNotImplemented(err) || errdefs.IsPermissionDenied(err) || errdefs.IsUnauthorized(err)
}

// asked calls do with the deadline of one call to the engine, and repeats it.
func asked[T any](ctx context.Context, do func(context.Context) (T, error)) (answer T, err error) {
	err = again(ctx, func() error {
		call, cancel := bounded(ctx)
		defer cancel()
		answer, err = do(call)
		if errdefs.IsNotFound(err) { // that is an answer
			return forGood{err}
		}
		return err
	})
	return answer, err
}
