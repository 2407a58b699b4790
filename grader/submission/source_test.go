package submission

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsSource(t *testing.T) {
	for name, want := range map[string]bool{
		"value.go": true, "Value.go": true, "test.go": true, "go.go": true,
		"value_test.go": false, "_value.go": false, ".value.go": false, "._value.go": false, ".go": false,
		"value.s": false, "go.mod": false, "go": false, "": false,
	} {
		assert.Equal(t, want, IsSource(name), name)
	}
}
