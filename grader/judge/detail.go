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
	departs    int
	last, next string // the reference's names before departs and at it; "" past its ends
}

type recordDifference struct {
	want wire.Record
	difference
}

func (d streamDifference) agrees() bool { return d.differ == 0 && d.departs < 0 }

// compareStreams compares records in their order, each under the comparison in the
// reference's record: a submission can write any comparison into its own.
func compareStreams(want, got []wire.Record) streamDifference {
	return differences(want, got, maxShown)
}

// differences is compareStreams, and keeps more or fewer of the records that differ.
func differences(want, got []wire.Record, most int) streamDifference {
	d := streamDifference{want: len(want), got: len(got), departs: -1}
	for i, w := range want {
		if i == len(got) || got[i].Name != w.Name {
			d.departs, d.next = i, w.Name
			return d
		}
		d.last = w.Name
		v := compare(w.Comparison, w.Value, got[i].Value)
		if v.class == agree {
			continue
		}
		if d.differ++; d.differ <= most {
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
// [course.FeedbackValues] shows values. How many differ and where is told in steps:
// a submission that knows its inputs can choose both.
func (d streamDifference) detail(policy course.Feedback) string {
	var parts []string
	if d.differ > 0 {
		parts = append(parts, d.values(policy))
	}
	if d.departs >= 0 {
		parts = append(parts, d.turn())
	}
	return strings.Join(parts, "; ")
}

// turn says where the test took another way than with the reference. What that can mean is
// said only where no value differs: where one does, the other way mostly follows from it.
func (d streamDifference) turn() string {
	what, means := "the test observed something else "+d.position(), "an error comes where a value should or a value where an error should, or something happens too early, too late or not at all"
	switch d.departs {
	case d.want:
		what, means = "the test observed all that is expected, and then more", "something happens once too often"
	case d.got:
		what, means = "the test ended "+d.position(), "something did not happen"
	}
	if d.differ > 0 && d.departs != d.want {
		return "then " + what
	}
	return what + ": " + means
}

// position says between which observations of the reference's the test departed.
func (d streamDifference) position() string {
	switch {
	case d.next == "" && d.last == "":
		return "at its end"
	case d.next == "":
		return "after " + quote(d.last) + ", the last that it observes"
	case d.last == "":
		return "where " + quote(d.next) + " should be, the first that it observes"
	case d.last == d.next:
		return "where another " + quote(d.next) + " should come"
	}
	return "where " + quote(d.next) + " should come after " + quote(d.last)
}

// share says how many observations differ: all, most or some of several.
func (d streamDifference) share() string {
	switch {
	case d.want == 1:
		return "the value differs from what is expected"
	case d.differ == 1:
		return "one value differs from what is expected"
	case d.differ == d.want:
		return "all values differ from what is expected"
	case 2*d.differ > d.want:
		return "most values differ from what is expected"
	}
	return "some values differ from what is expected"
}

func (d streamDifference) values(policy course.Feedback) string {
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
		name := quote(d.shown[0].want.Name)
		if d.differ == 1 {
			return d.share() + ": " + name
		}
		return d.share() + "; the first is " + name
	}
	if d.differ > len(list) {
		list = append(list, "...")
	}
	return d.share() + ": " + strings.Join(list, ", ")
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
