package class

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
)

func shippedOf(t *testing.T) []Shipped {
	t.Helper()
	shipped, err := Load(os.DirFS("../.."))
	require.NoError(t, err)
	return shipped
}

// A class has the requested size and submissions of every kind.
func TestHandIn(t *testing.T) {
	shipped := shippedOf(t)
	for _, n := range []int{1, 64, len(shipped), len(shipped) + 5} {
		class := HandIn(shipped, n)
		assert.GreaterOrEqual(t, len(class), n)
		assert.Less(t, len(class), n+len(fixture.Classes))
		seen, students := map[string]bool{}, map[string]bool{}
		for _, h := range class {
			seen[string(h.Class)], students[h.Student] = true, true
			if n >= 64 {
				seen[h.Exercise.Name] = true
			}
		}
		assert.Len(t, students, len(class))
		for _, c := range fixture.Classes {
			assert.True(t, seen[string(c)], "%d: nothing of %s", n, c)
		}
		if n >= 64 {
			for _, s := range shipped {
				assert.True(t, seen[s.Exercise.Name], "%d: nothing of %s", n, s.Exercise.Name)
			}
		}
	}
}

// No two students hand in the same bytes, which a grader would grade only once.
func TestCopiesDiffer(t *testing.T) {
	shipped := shippedOf(t)
	class := HandIn(shipped, len(shipped)+40)
	of := map[string]string{}
	for _, h := range class {
		key := h.Dir
		for _, f := range h.Files {
			key += fmt.Sprintf("%q%q", f.Name, f.Data)
		}
		assert.Empty(t, of[key], "%s and %s: %s", of[key], h.Student, h.Dir)
		of[key] = h.Student
	}
	for _, s := range shipped {
		for _, f := range s.Files {
			assert.NotContains(t, string(f.Data), "// copy 1\n", "HandIn does not change the shipped submissions")
		}
	}
}

// A file that the exercise provides replaces the student's copy.
func TestSolution(t *testing.T) {
	e := &course.Exercise{Provided: []string{"data.go"}, Starter: []course.File{{Name: "data.go", Data: []byte("ours")}, {Name: "todo.go"}}}
	h := Submission{Shipped: Shipped{Exercise: e}, Files: []course.File{{Name: "a.go", Data: []byte("theirs")}, {Name: "data.go", Data: []byte("theirs")}}}
	var got []string
	for _, f := range h.Solution() {
		got = append(got, f.Name+" "+string(f.Data))
	}
	assert.Equal(t, "a.go theirs, data.go ours", strings.Join(got, ", "))
}
