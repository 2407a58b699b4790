package judge

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"grade/exercises/course"
	"grade/observe/wire"
)

// The caps on what a student is told about one check, in bytes and in
// observations.
const (
	maxDetail = 600
	maxQuote  = 60
	maxShown  = 3
)

// streamDifference says how a submission's records depart from the reference's.
type streamDifference struct {
	want, got int // records
	differ    int // records of the same name whose values differ
	shown     []recordDifference
	// departs is the first record that is not the reference's by name or
	// number, after which nothing is compared; -1 if there is none.
	departs int
	next    string // the name the reference has there; "" past its end
}

type recordDifference struct {
	want wire.Record
	difference
}

func (d streamDifference) agrees() bool { return d.differ == 0 && d.departs < 0 }

// compareStreams compares records in their order. Names, comparisons and flags
// that count are the reference's.
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

// detail says as much about the difference as the feedback policy opens. Names
// of observations are the hidden test's own and may be shown under each; values
// only under the last.
func (d streamDifference) detail(policy course.Feedback) string {
	var parts []string
	if d.differ > 0 {
		parts = append(parts, d.values(policy))
	}
	switch {
	case d.departs < 0:
	case d.departs == d.want:
		parts = append(parts, fmt.Sprintf("there are more than the %s expected", count(d.want)))
	case d.departs == d.got:
		parts = append(parts, fmt.Sprintf("the record ends after %d of %s, where %s is expected", d.got, count(d.want), quote(d.next)))
	default:
		parts = append(parts, fmt.Sprintf("after %d of %s another one comes than %s", d.departs, count(d.want), quote(d.next)))
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
		return fmt.Sprintf("is %s, above what is allowed where the reference has %s", show(d.got), show(d.want))
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

// quote cuts before it escapes: an escape cut in half would be something else.
func quote(s string) string {
	if len(s) <= maxQuote {
		return strconv.Quote(s)
	}
	return strconv.Quote(firstBytes(s, maxQuote)) + "..."
}

// abridge caps a detail, visibly.
func abridge(detail string) string {
	const mark = "..."
	if len(detail) <= maxDetail {
		return detail
	}
	return firstBytes(detail, maxDetail-len(mark)) + mark
}

// firstBytes shortens s to at most limit bytes, and not in the middle of a character.
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
