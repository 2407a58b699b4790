package document

import (
	"fmt"
	"slices"
	"strings"
)

// DidYouMean ends a fault about a name that is not one of those known, with the one that it
// resembles most; "" if it resembles none.
func DidYouMean(name string, known []string) string {
	best, least := "", len(name)/3+1 // a third of the letters may be wrong, and a short word has one
	for _, k := range slices.Sorted(slices.Values(known)) {
		if n := distance(strings.ToLower(name), strings.ToLower(k)); n <= least && (best == "" || n < least) {
			best, least = k, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance is the number of bytes to add, to remove, to replace or to swap with the next one
// that make a of b.
func distance(a, b string) int {
	before, row := []int{}, make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			replaced := row[j]
			if a[i] != b[j] {
				replaced++
			}
			next[j+1] = min(replaced, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
