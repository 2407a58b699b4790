package judge

import (
	"errors"
	"fmt"

	"grade/exercises/course"
	"grade/observe/wire"
	"grade/sandbox"
)

// maxExplained is how many observations that differ an explanation lists.
const maxExplained = 20

// Explain lists what differs between two runs of a check, with the values of both sides. It
// is for the exercise's author, who can read the hidden tests and run the reference: no
// result and no report of a student holds any of it.
func Explain(check course.Check, ref, sub sandbox.Outcome) (lines []string) {
	want, err := wire.Decode(ref.Observations)
	if err != nil {
		return []string{fmt.Sprintf("the reference's record cannot be read: %v", err)}
	}
	got, err := wire.Decode(sub.Observations)
	if err != nil && !errors.Is(err, wire.ErrNoEnd) {
		lines = append(lines, fmt.Sprintf("the submission's record cannot be read: %v", err))
	}
	d := differences(want.Records, got.Records, maxExplained)
	for _, r := range d.shown {
		lines = append(lines, r.place()+" "+r.values())
	}
	if more := d.differ - len(d.shown); more > 0 {
		lines = append(lines, fmt.Sprintf("%d more observations differ", more))
	}
	return append(lines, d.departure(got.Records)...)
}

// departure says where the records stop being of the same observations, with both names.
func (d streamDifference) departure(got []wire.Record) []string {
	switch {
	case d.departs < 0:
		return nil
	case d.departs == d.want:
		return []string{fmt.Sprintf("%d of %d observations, and then %s comes", d.want, d.want, quote(got[d.departs].Name))}
	case d.departs == d.got:
		return []string{fmt.Sprintf("only %d of %d observations, and the next should be %s", d.got, d.want, quote(d.next))}
	}
	return []string{fmt.Sprintf("observation %d of %d is %s, want %s", d.departs+1, d.want, quote(got[d.departs].Name), quote(d.next))}
}
