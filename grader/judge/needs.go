package judge

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/verdict"
	"grade/observe/wire"
)

// excuse holds what does not count in a check, because it rests on checks that have failed.
// Nothing else of a check is excused: if a failed check gave the points of another, a cheap
// one could be failed on purpose to be paid for a dear one.
type excuse struct {
	needs []course.Need // those that have failed, and that excuse observations
}

// excuseOf returns what a check is excused of where some checks have failed.
func excuseOf(check course.Check, failed []string) (e excuse) {
	for _, n := range check.Needs {
		if len(n.Observations) > 0 && slices.Contains(failed, n.Check) {
			e.needs = append(e.needs, n)
		}
	}
	return e
}

// covers reports whether an observation of that name does not count.
func (e excuse) covers(name string) bool {
	return slices.ContainsFunc(e.needs, func(n course.Need) bool { return n.Excuses(name) })
}

// left returns the records that count, in their order.
func (e excuse) left(records []wire.Record) []wire.Record {
	if len(e.needs) == 0 {
		return records
	}
	return slices.DeleteFunc(slices.Clone(records), func(r wire.Record) bool { return e.covers(r.Name) })
}

// told says what does not count, in the words of a detail. It is empty if all of the
// submission's records agree with the reference's anyway.
func (e excuse) told(want, got []wire.Record) string {
	if len(e.needs) == 0 || compareStreams(want, got).agrees() {
		return ""
	}
	var names []string
	for _, n := range e.needs {
		names = append(names, n.Check)
	}
	return "observations that rest on " + strings.Join(names, " and ") + ", which failed, do not count here"
}

// Excusing returns those of the failed checks that may excuse observations in a check, in
// the order in which it needs them.
func Excusing(check course.Check, failed []string) (names []string) {
	for _, n := range excuseOf(check, failed).needs {
		names = append(names, n.Check)
	}
	return names
}

// maxExcusing is how many failed checks are tried together as an excuse of one check.
const maxExcusing = 6

// Enough returns the smallest sets of failed checks that excuse all that is wrong in a check,
// where passes says whether it is passed with those of a set: none of a set can be spared. It
// is not passed without any, and one that is passed with a set is passed with a larger one
// too: of records that agree, both sides leave out the same ones. So what no set can be
// without is found first, or a submission could have large records compared for every set.
func Enough(excusing []string, passes func(failed []string) bool) (sets [][]string) {
	excusing = excusing[:min(len(excusing), maxExcusing)]
	enough := func(subset int) bool { return subset != 0 && passes(chosen(excusing, subset)) }
	all, needed := 1<<len(excusing)-1, 0
	if !enough(all) {
		return nil
	}
	for i := range excusing {
		if !enough(all &^ (1 << i)) {
			needed |= 1 << i
		}
	}
	var found []int
	for subset := 1; subset <= all; subset++ { // after all of its own subsets
		holds := func(smaller int) bool { return subset&smaller == smaller }
		if holds(needed) && !slices.ContainsFunc(found, holds) && enough(subset) {
			found, sets = append(found, subset), append(sets, chosen(excusing, subset))
		}
	}
	return sets
}

// chosen returns the names whose bits are set.
func chosen(names []string, subset int) (list []string) {
	for i, name := range names {
		if subset>>i&1 == 1 {
			list = append(list, name)
		}
	}
	return list
}

// Claim is a failed check that would be passed if what rests on other failed checks did not
// count.
type Claim struct {
	Check  string
	Points int
	By     [][]string // sets of checks, each of which is enough
}

// Excuses decides which claims are granted, and by which failed checks: those that are worth
// the most points. Each check that a claim is granted by pays all of the claim's points, out
// of those that it costs itself; a claim that is not granted is one more failed check. So
// nothing is gained by failing a check on purpose: what it pays for is worth no more than
// what it costs, and all else could be granted without it.
//
// A claim names only failed checks, and claims before it.
func Excuses(failed map[string]int, claims []Claim) map[string][]string {
	s := newSettlement(failed, claims)
	granted := map[string][]string{}
	s.collect(0, s.purses, granted)
	return granted
}

// settlement tries every way to grant claims, and remembers what each rest of them comes to.
type settlement struct {
	claims []Claim
	names  []string // of failed checks, and then of claims
	purses []int    // what each may still pay at the start
	asked  [][]int  // whose purses each claim, or one after it, may take from
	known  map[string]settled
}

func newSettlement(failed map[string]int, claims []Claim) *settlement {
	s := &settlement{claims: claims, known: map[string]settled{}, names: slices.Sorted(maps.Keys(failed))}
	for _, name := range s.names {
		s.purses = append(s.purses, failed[name])
	}
	for _, c := range claims {
		s.names, s.purses = append(s.names, c.Check), append(s.purses, 0)
	}
	s.asked = s.askedFrom()
	return s
}

// askedFrom finds the purses for [settlement.asked], from the last claim to the first.
func (s *settlement) askedFrom() [][]int {
	from := make([][]int, len(s.claims))
	var later []int
	for i, c := range slices.Backward(s.claims) {
		for _, name := range slices.Concat(c.By...) {
			if at := slices.Index(s.names, name); at >= 0 && !slices.Contains(later, at) {
				later = append(later, at)
			}
		}
		from[i] = slices.Clone(later)
	}
	return from
}

// key names all that decides the claims from the i-th on. The purses that these do not ask are
// left out, or every set of refused claims before them would have a key of its own.
func (s *settlement) key(i int, purses []int) string {
	asked := []int{i}
	for _, at := range s.asked[i] {
		asked = append(asked, purses[at])
	}
	return fmt.Sprint(asked)
}

// settled is the best that can be done from one claim on.
type settled struct {
	points int
	by     int // which of the claim's sets; -1: it is not granted
}

// best decides the claims from the i-th on, with what each check can still pay.
func (s *settlement) best(i int, purses []int) settled {
	if i == len(s.claims) {
		return settled{}
	}
	key := s.key(i, purses)
	if known, ok := s.known[key]; ok {
		return known
	}
	best := settled{s.best(i+1, s.refuse(i, purses)).points, -1}
	for by := range s.claims[i].By {
		if after, ok := s.grant(i, by, purses); ok {
			if points := s.claims[i].Points + s.best(i+1, after).points; points > best.points {
				best = settled{points, by}
			}
		}
	}
	s.known[key] = best
	return best
}

// collect follows the best decisions.
func (s *settlement) collect(i int, purses []int, granted map[string][]string) {
	if i == len(s.claims) {
		return
	}
	c, decided := s.claims[i], s.best(i, purses)
	if decided.by < 0 {
		s.collect(i+1, s.refuse(i, purses), granted)
		return
	}
	granted[c.Check] = c.By[decided.by]
	after, _ := s.grant(i, decided.by, purses)
	s.collect(i+1, after, granted)
}

// refuse makes the claim one of the failed checks.
func (s *settlement) refuse(i int, purses []int) []int {
	after := slices.Clone(purses)
	after[slices.Index(s.names, s.claims[i].Check)] = s.claims[i].Points
	return after
}

// grant has the checks of a set pay for the claim, if each of them can.
func (s *settlement) grant(i, by int, purses []int) (after []int, ok bool) {
	after = slices.Clone(purses)
	for _, name := range s.claims[i].By[by] {
		at := slices.Index(s.names, name)
		if at < 0 || after[at] < max(1, s.claims[i].Points) {
			return nil, false
		}
		after[at] -= s.claims[i].Points
	}
	return after, true
}

// checkExcuses refuses a record all of whose observations can be excused: the check would
// be passed by failing another.
func checkExcuses(check course.Check, records []wire.Record) error {
	excusable := excuse{check.Needs}
	if !slices.ContainsFunc(records, func(r wire.Record) bool {
		return !excusable.covers(r.Name) && (check.SelfReported || !r.SelfReported)
	}) {
		return errors.New("every observation is excused where a check that this one needs has failed, so that the points would be given away: leave one that counts in every case")
	}
	return nil
}

// Causes names, in each check that has failed, the failed check that explains it: the first
// of those that it needs, or what that one needs in turn. It returns the results in their
// order.
func Causes(checks []course.Check, results []verdict.CheckResult) []verdict.CheckResult {
	results = slices.Clone(results)
	for i, r := range results {
		if root := rootOf(checks, results, r.Name, map[string]bool{}); root != "" && root != r.Name {
			results[i].Cause = root
		}
	}
	return results
}

// rootOf follows the needs of a failed check to a failed check that needs no other failed
// one. It returns "" for a check that has not failed.
func rootOf(checks []course.Check, results []verdict.CheckResult, name string, seen map[string]bool) string {
	if seen[name] || !slices.Contains(Failed(results), name) {
		return ""
	}
	seen[name] = true
	i := slices.IndexFunc(checks, func(c course.Check) bool { return c.Name == name })
	for _, n := range checks[i].Needs {
		if root := rootOf(checks, results, n.Check, seen); root != "" {
			return root
		}
	}
	return name
}

// Failed returns the names of the checks that were run and are not passed.
func Failed(results []verdict.CheckResult) (names []string) {
	for _, r := range results {
		if !r.Verdict.Earns() && r.Verdict != verdict.NotRun {
			names = append(names, r.Name)
		}
	}
	return names
}
