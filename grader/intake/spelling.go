package intake

import (
	"slices"
	"strings"
)

// SpellAs gives students the spelling of their names in kept results, if they differ in
// case alone: otherwise one student's work would count as that of two. A name that has kept
// results as it is stays.
func SpellAs(list []Submission, kept []string) {
	for i := range list {
		same := func(name string) bool { return strings.EqualFold(name, list[i].Student) }
		if j := slices.IndexFunc(kept, same); j >= 0 && !slices.Contains(kept, list[i].Student) {
			list[i].Student = kept[j]
		}
	}
}
