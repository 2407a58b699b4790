package sandbox

import (
	"context"
	"errors"
	"fmt"
)

// Warm fills a toolchain's build cache before the first real build, so that each
// package of the standard library is compiled once.
type Warm struct {
	Key      string // identifies the requests: another key makes another image
	Requests func(Dirs) ([]Request, error)
}

// Fill runs the requests in b, whose cache must be writable.
func (w Warm) Fill(ctx context.Context, b Box) error {
	if w.Requests == nil {
		return errors.New("fill the cache: no builds are configured")
	}
	requests, err := w.Requests(b.Dirs())
	if err != nil {
		return err
	}
	for _, q := range requests {
		o, err := b.Run(ctx, q)
		if err != nil {
			return err
		}
		if o.ExitCode != 0 || o.Signal != 0 {
			return fmt.Errorf("fill the cache: %q ended with status %d, signal %d (%v): %.2000s", q.Args, o.ExitCode, o.Signal, o.Cause, o.Stderr)
		}
	}
	return nil
}
