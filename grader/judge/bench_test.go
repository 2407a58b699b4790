package judge

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/lang/golang"
	"grade/grader/verdict"
	"grade/observe/wire"
)

// layers are records of n numbers each, the last of which is last.
func layers(records, n int, last float64) (list []wire.Record) {
	for i := range records {
		list = append(list, record(fmt.Sprintf("layer %d of %d", i, records), floats(make([]float64, n)...)))
	}
	return append(list, record("loss", float(last)))
}

// pricey is a check that six others may excuse a part of each of: the layers of one first digit.
func pricey() (check course.Check, failed []string) {
	check = course.Check{Name: "TestRun", Kind: verdict.Correctness, Feedback: course.FeedbackHint}
	for i := range maxExcusing {
		failed = append(failed, fmt.Sprint("Test", i))
		check.Needs = append(check.Needs, course.Need{Check: failed[i], Observations: []string{fmt.Sprintf("layer %d*", i)}})
	}
	return check, failed
}

// BenchmarkEnough is a claim of a submission that wants it dear: six failed checks and large
// records that differ at their end, where nothing is excused, or in what each check excuses.
func BenchmarkEnough(b *testing.B) {
	for _, c := range []struct {
		name     string
		ref, sub []wire.Record
		sets     int
	}{
		{"long lists", layers(8, 64<<10, 1), layers(8, 64<<10, 2), 0}, // 4 MB each
		{"long lists, all needed", layers(8, 64<<10, 1), slices.Concat(layers(maxExcusing, 1, 0)[:maxExcusing], layers(8, 64<<10, 1)), 1},
		{"many records", layers(90_000, 1, 1), layers(90_000, 1, 2), 0},
		{"more records", layers(8, 1, 1), layers(90_000, 1, 1), 0},
	} {
		check, failed := pricey()
		ref, sub := ran(stream(wire.Passed, c.ref...)), ran(stream(wire.Passed, c.sub...))
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run, err := Read(check, ref, sub, golang.CrashWords)
				require.NoError(b, err)
				sets := Enough(failed, func(set []string) bool {
					v, _ := run.Verdict(set...)
					return v == verdict.Passed
				})
				require.Len(b, sets, c.sets)
			}
		})
	}
}
