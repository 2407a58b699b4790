package hidden

import (
	"math"
	"math/rand/v2"
	"testing"

	"grade/observe"
	"grade/reference/amp"
)

// ofPeak is how exact a rate is, as a part of the Peak.
var ofPeak = observe.Within(1e-9, 0)

// schedule draws a Schedule with these steps, and with rates of any usual size.
func schedule(r *rand.Rand, warmup, total int) amp.Schedule {
	peak := math.Pow(10, -6+8*r.Float64())
	return amp.Schedule{Peak: peak, Floor: peak * r.Float64() * 0.9, Warmup: warmup, Total: total}
}

// rates steps through a schedule and returns the rates of the steps from and before to, as
// parts of the Peak.
func rates(s *amp.Scheduler, cfg amp.Schedule, from, to int) (all []float64) {
	for k := range to {
		if k >= from {
			all = append(all, s.Rate()/cfg.Peak)
		}
		s.Step()
	}
	return all
}

// In the warm-up, the rate of step k is Peak * (k + 1) / Warmup (rule 8).
func TestWarmup(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 15 {
		warmup := 2 + r.IntN(30)
		cfg := schedule(r, warmup, warmup+1+r.IntN(50))
		o.Floats("rates of the warm-up", rates(newScheduler(t, cfg), cfg, 0, warmup), ofPeak)
		cfg.Floor = 0
		o.Floats("rates of the warm-up with a Floor of 0", rates(newScheduler(t, cfg), cfg, 0, warmup), ofPeak)
	}
}

// After the warm-up, the rate falls along half a cosine from Peak to Floor (rule 8).
func TestCosine(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 15 {
		warmup := 2 + r.IntN(30)
		cfg := schedule(r, warmup, warmup+1+r.IntN(60))
		o.Floats("rates of the cosine", rates(newScheduler(t, cfg), cfg, warmup, cfg.Total), ofPeak)
		cfg.Floor = 0
		o.Floats("rates of the cosine with a Floor of 0", rates(newScheduler(t, cfg), cfg, warmup, cfg.Total), ofPeak)
		cfg.Floor = cfg.Peak
		o.Floats("rates of the cosine with a Floor of Peak", rates(newScheduler(t, cfg), cfg, warmup, cfg.Total), ofPeak)
	}
}

// A warm-up may be of no step or of one, and may be all there is; the first rate is never
// 0 (rule 9).
func TestShortWarmup(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		total := 3 + r.IntN(20)
		for _, steps := range [][2]int{{0, total}, {1, total}, {0, 1}, {1, 1}, {0, 2}, {1, 2}} {
			cfg := schedule(r, steps[0], steps[1])
			o.Floats("rates after a short warm-up", rates(newScheduler(t, cfg), cfg, 0, cfg.Total+2), ofPeak)
		}
		cfg := schedule(r, total, total) // what is before the last step is for TestWarmup
		o.Floats("rates after nothing but a warm-up", rates(newScheduler(t, cfg), cfg, total-1, total+2), ofPeak)
	}
}

// A Peak may be any finite number, and with it every rate (rules 8 and 11).
func TestPeaks(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, peak := range []float64{math.MaxFloat64, 1e308 * (1 + r.Float64()/2), 1e-300 * (1 + r.Float64())} {
		floors := []float64{0, peak / 3, peak}
		if peak == math.MaxFloat64 { // a sum that is rounded up would be +Inf
			floors = floors[:1]
		}
		for _, floor := range floors {
			for _, warmup := range []int{0, 1, 63, 100 + r.IntN(100)} { // MaxFloat64 / 63 * 63 is +Inf
				cfg := amp.Schedule{Peak: peak, Floor: floor, Warmup: warmup, Total: 200 + r.IntN(50)}
				o.Floats("rates, as parts of the Peak", rates(newScheduler(t, cfg), cfg, 0, cfg.Total+2), ofPeak)
			}
		}
	}
	for _, peak := range []float64{1e-300, 1e-300 * (1 + r.Float64()), math.MaxFloat64} {
		for _, steps := range [][2]int{{1e18, 1e18}, {math.MaxInt, math.MaxInt}, {1e18, math.MaxInt}, {1, math.MaxInt}} {
			farAlong(t, o, amp.Schedule{Peak: peak, Warmup: steps[0], Total: steps[1]})
		}
	}
}

// farAlong looks at rates all over a schedule so long that a Peak of 1e-300, divided by its
// steps, has few digits left.
func farAlong(t testing.TB, o *observe.Observer, cfg amp.Schedule) {
	s := newScheduler(t, cfg)
	fall := cfg.Total - cfg.Warmup
	for _, k := range []int{0, cfg.Warmup / 3, cfg.Warmup - 1, cfg.Warmup + fall/3, cfg.Warmup + fall/2, cfg.Total - 1, o.Rand().IntN(cfg.Total)} {
		s.SetState(amp.SchedulerState{Steps: k})
		o.Float("long: rate, as a part of the Peak", s.Rate()/cfg.Peak, ofPeak)
	}
}

// From step Total on, the rate is exactly Floor (rule 8).
func TestEndOfSchedule(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 10 {
		cfg := schedule(r, r.IntN(4), 4+r.IntN(20))
		if r.IntN(3) == 0 {
			cfg.Floor = 0
		}
		s := newScheduler(t, cfg)
		for range cfg.Total {
			s.Step()
		}
		for range 2*cfg.Total + 3 {
			o.Float("rate at the end less the Floor", s.Rate()-cfg.Floor, exact)
			s.Step()
		}
		for _, past := range []int{0, 1, cfg.Total, 1e6 + r.IntN(1e6), math.MaxInt - cfg.Total} {
			err := s.SetState(amp.SchedulerState{Steps: cfg.Total + past})
			o.Bool("a State past the end is fine", err == nil)
			o.Float("rate past the end less the Floor", s.Rate()-cfg.Floor, exact)
		}
		o.Float("the Floor is drawn", cfg.Floor)
	}
}

// Total and Steps may be any int (rule 13).
func TestLongSchedules(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, total := range []int{1<<31 + r.IntN(1e6), 1<<32 + r.IntN(1e6), 1e12 + r.IntN(1e12), 1e18 + r.IntN(1e18), math.MaxInt} {
		for range 5 {
			cfg := schedule(r, 1+r.IntN(total/2), total)
			s := newScheduler(t, cfg)
			for _, k := range []int{r.IntN(cfg.Warmup), cfg.Warmup + r.IntN(total-cfg.Warmup), total / 2, total - 1} {
				s.SetState(amp.SchedulerState{Steps: k})
				o.Float("rate", s.Rate()/cfg.Peak, ofPeak)
				o.Int("steps", s.State().Steps)
			}
		}
	}
	for _, warmup := range []int{1<<53 + 1, 1e18, math.MaxInt - 20} {
		about(t, o, schedule(r, warmup, warmup+10+r.IntN(10)))
		about(t, o, schedule(r, warmup, warmup))
	}
	cfg := schedule(r, 300+r.IntN(1000), 90_000+r.IntN(9000))
	s := newScheduler(t, cfg)
	for k := range 80_000 {
		if k%9973 == 9972 {
			o.Float("rate after many calls of Step", s.Rate()/cfg.Peak, ofPeak)
		}
		s.Step()
	}
	o.Int("steps after many calls of Step", s.State().Steps)
	s = newScheduler(t, schedule(r, 1, math.MaxInt))
	for _, k := range []int{1<<15 - 1, 1<<16 - 1, 1<<31 - 1, 1<<32 - 1, 1<<53 + 1} {
		s.SetState(amp.SchedulerState{Steps: k})
		s.Step()
		o.Int("steps after a Step from a State", s.State().Steps)
	}
}

// about looks at a few steps before and after the end of a warm-up that has more digits
// than a float64 holds.
func about(t testing.TB, o *observe.Observer, cfg amp.Schedule) {
	s := newScheduler(t, cfg)
	for k := -5; k < 10; k++ {
		s.SetState(amp.SchedulerState{Steps: cfg.Warmup + k})
		o.Float("rate at the end of a long warm-up", s.Rate()/cfg.Peak, ofPeak)
	}
}

// Rate is that of the next step, however often it is asked, and only Step counts (rule
// 10).
func TestRate(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 10 {
		cfg := schedule(r, 0, 8+r.IntN(20))
		s := newScheduler(t, cfg)
		first := s.Rate()
		o.Float("first rate", first/cfg.Peak, ofPeak)
		for k := range cfg.Total * 3 / 4 { // to Total at most: what comes then is for TestSchedulerState
			o.Int("steps, by the State", s.State().Steps)
			rate := s.Rate()
			for range 1 + r.IntN(3) {
				o.Float("the same rate again", s.Rate()-rate, exact)
			}
			if k%3 == 2 {
				s.Step() // some steps go by without a look at the rate
			}
			s.Step()
		}
	}
}

// NewScheduler refuses a Schedule that makes no sense, and no other (rule 11).
func TestSchedulerConfig(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	good := func() amp.Schedule {
		return amp.Schedule{Peak: 1 + r.Float64(), Floor: r.Float64(), Warmup: 1 + r.IntN(5), Total: 6 + r.IntN(9)}
	}
	try := func(name string, change func(c *amp.Schedule)) {
		cfg := good()
		change(&cfg)
		s, err := amp.NewScheduler(cfg)
		sentinels(o, name, err)
		o.Bool(name+": there is one", err != nil || s != nil)
	}
	for _, peak := range []float64{0, zero, -1, nan, inf, -inf, 1e-300} {
		try("Peak", func(c *amp.Schedule) { c.Peak, c.Floor = peak, 0 })
	}
	try("Peak and Floor of 0", func(c *amp.Schedule) { c.Peak, c.Floor = 0, 0 })
	try("Peak and Floor infinite", func(c *amp.Schedule) { c.Peak, c.Floor = inf, inf })
	for _, floor := range []float64{0, zero, -1e-9, nan, inf, -inf} {
		try("Floor", func(c *amp.Schedule) { c.Floor = floor })
	}
	try("Floor and Peak alike", func(c *amp.Schedule) { c.Floor = c.Peak })
	try("Floor above Peak", func(c *amp.Schedule) { c.Floor = c.Peak * (1 + 1e-9) })
	for _, total := range []int{1, 0, -1, math.MinInt, math.MaxInt} {
		try("Total", func(c *amp.Schedule) { c.Warmup, c.Total = 0, total })
	}
	try("Total of 0 and Warmup of 0", func(c *amp.Schedule) { c.Warmup, c.Total = 0, 0 })
	for _, more := range []int{-1, 0, 1} {
		try("Warmup about Total", func(c *amp.Schedule) { c.Warmup = c.Total + more })
	}
	for _, warmup := range []int{0, -1, math.MinInt, math.MaxInt} {
		try("Warmup", func(c *amp.Schedule) { c.Warmup = warmup })
	}
}

// A State makes another Scheduler go on, in the middle of the warm-up, of the cosine and
// at the end; one of fewer than 0 steps is refused (rule 12).
func TestSchedulerState(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 5 {
		cfg := schedule(r, 2+r.IntN(5), 10+r.IntN(20))
		rest := newScheduler(t, cfg)
		for k := range cfg.Total + 3 {
			st := rest.State()
			o.Int("steps", st.Steps)
			s := newScheduler(t, cfg)
			for range 1 + r.IntN(9) { // whatever it has seen itself is replaced
				s.Rate()
				s.Step()
			}
			s.Rate()
			o.Bool("the State is taken", s.SetState(st) == nil)
			o.Float("difference of rates", (s.Rate()-rest.Rate())/cfg.Peak, ofPeak)
			for range k % 4 {
				s.Step()
			}
			o.Int("steps of the one that goes on", s.State().Steps)

			sentinels(o, "a State of fewer steps", s.SetState(amp.SchedulerState{Steps: -1 - r.IntN(9)}))
			o.Int("steps after that", s.State().Steps)
			rest.Step()
		}
		other := cfg
		other.Peak *= 2
		o.Bool("the State of another Schedule is taken", rest.SetState(newScheduler(t, other).State()) == nil)
		o.Float("first rate of its own Schedule", rest.Rate()-newScheduler(t, cfg).Rate(), exact)
	}
}
