package measure

import (
	"fmt"
	"strconv"
	"strings"
)

// measured describes a figure beside its limit, with a note.
func measured(verb string, ratio float64, what string, limit float64, above bool, note string) string {
	var parts []string
	if above {
		parts = append(parts, fmt.Sprintf("%s %s times the reference's %s, where %g is allowed", verb, digits(ratio), what, limit))
	}
	if note != "" {
		parts = append(parts, note)
	}
	return strings.Join(parts, "; ")
}

// digits writes three significant digits, or all before the point.
func digits(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
