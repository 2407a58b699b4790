package judge

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"grade/exercises/course"
	"grade/observe/wire"
)

// The caps on what a student reads about one check.
const (
	maxDetail = 600 // bytes, in all
	maxQuote  = 60  // bytes of one name or text
	maxShown  = 3   // observations
)

// streamDifference describes how a submission's records differ from the reference's.
type streamDifference struct {
	want, got int // records
	differ    int // records of the same name whose values differ
	shown     []recordDifference
	// departs is the index of the first record whose name is not the reference's, or
	// that only one of the two has; later records are not compared. -1: none.
	departs int
	next    string // the reference's name at departs; "" past its end
}

type recordDifference struct {
	want wire.Record
	difference
}

func (d streamDifference) agrees() bool { return d.differ == 0 && d.departs < 0 }

// compareStreams compares records in their order, each under the comparison in the
// reference's record: a submission can write any comparison into its own.
func compareStreams(want, got []wire.Record) streamDifference {
	d := streamDifference{want: len(want), got: len(got), departs: -1}
	for i, w := range want {
		if i == len(got) || got[i].Name != w.Name {
			d.departs, d.next = i, w.Name
			return d
		}
		v := compare(w.Comparison, w.Value, got[i].Value)
		if v.class == agree {
			continue
		}
		if d.differ++; d.differ <= maxShown {
			d.shown = append(d.shown, recordDifference{w, v})
		}
	}
	if len(got) > len(want) {
		d.departs = len(want)
	}
	return d
}

// detail describes the difference as far as the feedback policy allows. Every policy
// shows names of observations, which the hidden test chooses; only
// [course.FeedbackValues] shows values.
func (d streamDifference) detail(policy course.Feedback) string {
	var parts []string
	if d.differ > 0 {
		parts = append(parts, d.values(policy))
	}
	switch {
	case d.departs < 0:
	case d.departs == d.want:
		parts = append(parts, fmt.Sprintf("the test recorded more than the %s expected", count(d.want)))
	case d.departs == d.got:
		parts = append(parts, fmt.Sprintf("the test recorded only %d of %s, and the next should be %s", d.got, count(d.want), quote(d.next)))
	default:
		parts = append(parts, fmt.Sprintf("observation %d of %d should be %s, but the test recorded a different one there: "+
			"something happened too early, too late or not at all", d.departs+1, d.want, quote(d.next)))
	}
	return strings.Join(parts, "; ")
}

func (d streamDifference) values(policy course.Feedback) string {
	head := fmt.Sprintf("%d of %s differ", d.differ, count(d.want))
	var list []string
	switch policy {
	case course.FeedbackValues:
		for _, r := range d.shown {
			list = append(list, r.place()+" "+r.values())
		}
	case course.FeedbackClass:
		for _, r := range d.shown {
			list = append(list, fmt.Sprintf("%s (%s)", quote(r.want.Name), r.class))
		}
	default:
		return fmt.Sprintf("%s; the first is %s", head, quote(d.shown[0].want.Name))
	}
	if d.differ > len(list) {
		list = append(list, "...")
	}
	return head + ": " + strings.Join(list, ", ")
}

// place names the observation and, in a list, the element.
func (r recordDifference) place() string {
	n := quote(r.want.Name)
	switch {
	case r.index < 0:
		return n
	case r.want.Value.Kind == wire.Matrix:
		return fmt.Sprintf("%s[%d,%d]", n, r.index/r.want.Value.Cols, r.index%r.want.Value.Cols)
	case r.want.Comparison.Multiset:
		return fmt.Sprintf("%s, sorted, [%d]", n, r.index)
	}
	return fmt.Sprintf("%s[%d]", n, r.index)
}

func (d difference) values() string {
	switch d.class {
	case kindDiffers:
		return "is " + string(d.class)
	case lengthDiffers:
		return fmt.Sprintf("has %v elements, want %v", d.got, d.want)
	case aboveBound:
		return fmt.Sprintf("is %s, more than is allowed; the reference has %s", show(d.got), show(d.want))
	}
	return fmt.Sprintf("is %s, want %s", show(d.got), show(d.want))
}

// show writes one element of a value, capped and free of control characters.
func show(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return quote(v)
	case [2]int:
		return fmt.Sprintf("%d by %d", v[0], v[1])
	}
	return fmt.Sprint(v)
}

// quote shortens and escapes s, in that order: half an escape would read as other text.
func quote(s string) string {
	if len(s) <= maxQuote {
		return strconv.Quote(s)
	}
	return strconv.Quote(firstBytes(s, maxQuote)) + "..."
}

// abridge caps a detail and marks the cut.
func abridge(detail string) string {
	const mark = "..."
	if len(detail) <= maxDetail {
		return detail
	}
	return firstBytes(detail, maxDetail-len(mark)) + mark
}

// firstBytes cuts s to at most limit bytes, between two characters.
func firstBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

func count(observations int) string {
	if observations == 1 {
		return "1 observation"
	}
	return fmt.Sprintf("%d observations", observations)
}
