package submission

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsSource(t *testing.T) {
	for name, want := range map[string]bool{
		"a.go": true, "A b.go": true, "a_linux.go": true, // refused later, and not passed over
		"a_test.go": false, ".a.go": false, "_a.go": false, "a.go.txt": false, "a.GO": false, "go": false, "": false,
	} {
		assert.Equal(t, want, IsSource(name), name)
	}
}
