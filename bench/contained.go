package main

import (
	"context"
	"fmt"
	"time"

	"grade/bench/gotest"
	"grade/exercises/course"
)

// contained is contender c: go test in a container.
type contained struct {
	engine *gotest.Engine
	run    gotest.Run
}

func newContained(ctx context.Context, e *course.Exercise) (*contained, error) {
	g, err := gotest.Open(ctx)
	if err != nil {
		return nil, err
	}
	c := &contained{engine: g, run: g.Filled(e)}
	if c.run.Tree, err = g.Tree(e, e.Reference); err != nil {
		g.Close()
		return nil, err
	}
	return c, nil
}

func (c *contained) close() { c.engine.Close() }

// String describes the engine at the end of a title. Without an engine it is empty.
func (c *contained) String() string {
	if c == nil {
		return ""
	}
	return ", " + c.engine.String()
}

func (c *contained) round(ctx context.Context) (time.Duration, error) {
	o, err := c.engine.Do(ctx, c.run)
	if err != nil {
		return 0, err
	}
	if o.Status != 0 {
		return 0, fmt.Errorf("go test in a container ended with status %d: %s", o.Status, o.Output)
	}
	return o.Took, nil
}
