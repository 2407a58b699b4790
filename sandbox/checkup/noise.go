package checkup

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// How a machine's steadiness is looked at: the same work again and again. The
// bound is that of the control which every grading takes of itself.
const (
	noiseRounds = 40
	noiseRound  = 5 * time.Millisecond
	noiseBound  = 1.30
)

// Noise times rounds of equal work and compares a slow one with a fast one.
func Noise() Finding {
	work := calibrate()
	times := make([]time.Duration, noiseRounds)
	for i := range times {
		started := time.Now()
		spin(work)
		times[i] = time.Since(started)
	}
	slices.Sort(times)
	spread := float64(times[noiseRounds*3/4]) / float64(times[noiseRounds/4])
	f := Finding{What: "noise", Found: fmt.Sprintf("equal work takes %.0f %% longer in a slow round than in a fast one", 100*(spread-1))}
	if spread > noiseBound {
		f.Cause = Noisy
		f.Advice = "close other programs, or expect wide intervals; what stays unclear is decided for the submission"
	}
	return f
}

// calibrate finds how much work takes a round.
func calibrate() int {
	for n := 1 << 10; ; n *= 2 {
		started := time.Now()
		spin(n)
		if time.Since(started) >= noiseRound {
			return n
		}
	}
}

func spin(n int) {
	x := uint64(n) | 1
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	runtime.KeepAlive(x) // or the compiler leaves the work out
}
