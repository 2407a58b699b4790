package intake

import (
	"slices"
	"strings"
)

// SpellAs gives students the names by which results of theirs are kept, where these differ in
// case alone: a login from elsewhere would be another student's, and the work of one would
// count as that of two. A name that is kept as it is stays, whatever else is kept.
func SpellAs(list []Submission, kept []string) {
	for i := range list {
		same := func(name string) bool { return strings.EqualFold(name, list[i].Student) }
		if j := slices.IndexFunc(kept, same); j >= 0 && !slices.Contains(kept, list[i].Student) {
			list[i].Student = kept[j]
		}
	}
}
