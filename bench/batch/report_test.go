package main

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestFigures(t *testing.T) {
	f := figures{count: 30, took: 5 * time.Minute, second: time.Second, again: 1, unbilled: errors.New("operation not permitted")}
	assert.Equal(t, `  b   grade batch, measuring too                    6.0 a minute  (30 in 5m0s)

verdicts as declared: 30 of 30, 1 of them when graded a second time
a second grade batch, with nothing to grade: 1s

CPU time by program was not measured: operation not permitted
`, f.String())
	assert.NoError(t, f.fault())
	f.mismatches = []string{"s0001, cosine accepted/loops: score 90, want 100"}
	assert.ErrorContains(t, f.fault(), "score 90")
	assert.Contains(t, f.String(), "verdicts as declared: 29 of 30")
}

func TestBeside(t *testing.T) {
	f := figures{count: 30, took: 5 * time.Minute}
	u := usualTimes{empty: 20 * time.Minute, filled: 2 * time.Minute, stopped: 1}
	assert.Equal(t, `  u1  docker run of go test, empty build cache      1.5 a minute  (30 in 20m0s)
  u2  docker run of go test, filled build cache    15.0 a minute  (30 in 2m0s)
  (-timeout 30s, no benchmarks; 2048 MiB and 512 processes a container; stopped after 3m0s: 1)

b/u1  4.00  (target: at least 9, missed)
b/u2  0.40  (target: at least 2.5, missed)
`, u.compare(f))
	u.empty, u.filled = 45*time.Minute, 13*time.Minute
	assert.NotContains(t, u.compare(f), "missed")
}
