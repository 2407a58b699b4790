package measure

import (
	"fmt"
	"slices"

	"grade/grader/verdict"
	"grade/sandbox"
)

// Workload is what is asked of one benchmark. A limit of 0 is not asked.
type Workload struct {
	Speed, Memory             float64 // limits, in multiples of the reference
	SpeedPoints, MemoryPoints int
	Beside                    bool // other programs are timed meanwhile
	BesideOwn                 bool // another program of the submission ran meanwhile, on another CPU where there is one
	Again                     bool // what was timed beside others was near the limit
}

// SureBeside is the multiple of its limit from which on a submission surely fails, though other
// programs were timed meanwhile: a neighbour takes more of the caches from one program than
// from another. Within it the failure is Near, and pairs of its own decide, of which few do
// not: that would be a second chance of a few lucky ones.
const SureBeside = 1.5

// SureBesideOwn is how many times below its limit a submission is taken to pass though another
// program of its own ran meanwhile. That one can compute in a part of each second in which its
// measured runs wait before the window, and so slow down the reference alone, which shares a
// core or its caches: two programs on a core have half of it each. Above it the pass is Near, and
// pairs without that program decide.
const SureBesideOwn = 2

// Series are the runs of one workload and what they say so far. A run gives a time and a
// peak; where both are asked for, both are judged by the same runs. It runs nothing: what
// adds outcomes may be a sandbox, a recording or a simulation.
type Series struct {
	Workload
	Refs, Subs []sandbox.Outcome
	pairs      []Pair
}

// Add adds a run of each side on the same inputs. The detail is not empty if the
// submission's window is not marked as the kit marks it; an error is ours.
func (s *Series) Add(ref, sub sandbox.Outcome) (detail string, err error) {
	s.Refs, s.Subs = append(s.Refs, figures(ref)), append(s.Subs, figures(sub))
	s.level()
	if s.Speed == 0 {
		return "", nil
	}
	p, detail, err := NewPair(ref, sub)
	s.pairs = append(s.pairs, p)
	return detail, err
}

// figures is a run without what it wrote, which was judged before and may be large.
func figures(o sandbox.Outcome) sandbox.Outcome {
	o.Stdout, o.Stderr, o.Observations, o.Files = nil, nil, nil, nil
	return o
}

// level raises all peaks of the submission to the most that the account of its box has shown
// beyond the program's own ([Held]). The account never falls, so it shows such memory in one
// run only, though it may be there in each.
func (s *Series) level() {
	held := slices.MaxFunc(s.Subs, func(a, b sandbox.Outcome) int { return int(ofBox(a) - ofBox(b)) })
	for i := range s.Subs {
		if o := &s.Subs[i]; o.Peak < ofBox(held) {
			o.Peak, o.PeakSource = held.Peak, held.PeakSource
		}
	}
}

// ofBox is a peak that is its box's, or 0.
func ofBox(o sandbox.Outcome) int64 {
	if !o.PeakSource.OfBox() {
		return 0
	}
	return o.Peak
}

// Control judges the machine by the reference's runs.
func (s *Series) Control() Control { return ControlOf(references(s.pairs)) }

// Decision is what a series comes to. A judgement is nil if it was not asked for.
type Decision struct {
	Speed  *Speed
	Memory *Memory
	Done   bool // more runs are of no use
	Forced bool // on speed, by the end of the time
	Near   bool // of runs beside other programs, so that others decide: neither a failure nor a pass counts
}

// Decide judges the runs so far. With last there can be no more, and what is undecided
// is decided as it is.
func (s *Series) Decide(last bool) (d Decision, err error) {
	if !last && !s.IsLook() {
		return d, nil
	}
	atLook := s.IsLook()
	last = last || s.isLast()
	done := true
	if s.Speed != 0 {
		if d.Speed, d.Forced, err = s.decideSpeed(atLook, last); err != nil {
			return d, err
		}
		done = d.Speed.Verdict != ""
	}
	if s.Memory != 0 {
		m, err := judgeMemory(s.Refs, s.Subs, s.Memory, last)
		if err != nil {
			return d, err
		}
		d.Memory = &m
		done = done && m.Verdict != ""
	}
	if d.Done = done; done {
		s.notBoth(d)
	}
	d.Near = d.Done && d.Speed != nil && (s.failsNear(d) || s.passesNear(d))
	return d, nil
}

func (s *Series) failsNear(d Decision) bool {
	return s.Beside && !d.Forced && d.Speed.Verdict == verdict.TooSlow && d.Speed.Interval[0] <= SureBeside*s.Speed
}

func (s *Series) passesNear(d Decision) bool {
	return s.BesideOwn && d.Speed.Verdict == verdict.Passed && SureBesideOwn*d.Speed.Interval[1] > s.Speed
}

// decideSpeed judges the pairs; with last, which forces it, there is a verdict.
func (s *Series) decideSpeed(atLook, last bool) (_ *Speed, forced bool, err error) {
	speed, err := JudgeSpeed(s.pairs, s.Speed)
	if err != nil {
		return nil, false, err
	}
	if !atLook { // of fewer pairs than there are
		speed.Verdict, speed.Note = "", ""
	}
	if forced = last && speed.Verdict == ""; forced {
		speed = speed.Decide(s.pairs, s.Speed)
	}
	return &speed, forced, nil
}

// IsLook reports whether the runs so far may decide.
func (s *Series) IsLook() bool {
	n := len(s.Subs)
	if s.Again && n < againAt {
		return false
	}
	return s.Speed != 0 && isLook(n) || s.Speed == 0 && (n == fewMemoryRuns || n == MemoryRuns || n >= moreMemoryRuns)
}

func (s *Series) isLast() bool {
	return s.Speed != 0 && isLast(len(s.Subs)) || s.Speed == 0 && len(s.Subs) >= moreMemoryRuns
}

// atOnce is the share of the runs that has to keep both limits, as a divisor: the same
// quarter that saves a submission from being surely too slow.
const atOnce = 4

// notBoth takes one of two passed judgements back if hardly a run has earned both: what is
// fast in some runs and slim in others is, in each, only one of the two. The one that
// counts less is lost, so that such a mixture is worth what the better part is alone.
func (s *Series) notBoth(d Decision) {
	if d.Speed == nil || d.Memory == nil || d.Speed.Verdict != verdict.Passed || d.Memory.Verdict != verdict.Passed {
		return
	}
	both := s.keepBoth(d.Memory.Allowed)
	if both*atOnce >= len(s.Subs) {
		return
	}
	note := fmt.Sprintf("only %d of %d runs kept the limits on time and on memory at once: what is saved of one has to be saved without the other", both, len(s.Subs))
	if s.SpeedPoints < s.MemoryPoints {
		d.Speed.Verdict, d.Speed.Note = verdict.TooSlow, note
		return
	}
	d.Memory.Verdict, d.Memory.Note = verdict.TooMuchMemory, note
}

// keepBoth counts runs within both limits. The baseline was read before, without an error.
func (s *Series) keepBoth(allowed int64) (n int) {
	baseline, _ := opening(s.Refs)
	for i, p := range withOverhead(s.pairs) {
		fast := float64(p.Submission) <= s.Speed*float64(max(p.Reference, 1))
		if fast && s.Subs[i].Peak-baseline <= allowed {
			n++
		}
	}
	return n
}
