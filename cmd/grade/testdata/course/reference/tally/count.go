// Package count counts words.
package count

import "strings"

// Words counts words.
func Words(s string) int { return len(strings.Fields(s)) }
