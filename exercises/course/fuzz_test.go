package course

import (
	"errors"
	"testing"

	"grade/exercises/course/coursetest"
	"grade/exercises/course/document"
)

// Load returns an exercise or faults with places, and never panics, whatever it reads.
func FuzzLoad(f *testing.F) {
	files := coursetest.Files()
	f.Add(files["exercises/gears/exercise.yaml"], files["exercises/gears/hidden/gears_test.go"])
	f.Add("# nothing\n", "package hidden\n")
	f.Add("&a [*a]", "package hidden\nfunc TestX()\nfunc TestY(*testing.T) { TestY() }\n")
	f.Add("checks: [{points: 1}, &a {test: *a}, null]", "")
	f.Add("a: &a {<<: *a}\n? [x]\n: y\n", "package hidden\nimport . \"grade/observe\"\n")
	f.Fuzz(func(t *testing.T, config, hidden string) {
		files := coursetest.Files()
		files["exercises/gears/exercise.yaml"] = config
		files["exercises/gears/hidden/gears_test.go"] = hidden
		e, err := open(files).Load("gears")
		if (e == nil) == (err == nil) {
			t.Fatalf("%v and %v", e, err)
		}
		if err != nil {
			if p := new(document.Fault); !errors.As(err, &p) {
				t.Fatalf("no place: %v", err)
			}
			return
		}
		sum := 0
		for _, c := range e.Checks {
			sum += c.Points
			if c.Points < 1 || c.Hint == "" || c.Name == "" || c.Kind == "" || c.Feedback == "" {
				t.Errorf("half a check: %+v", c)
			}
		}
		if sum != MaxScore {
			t.Errorf("points sum to %d", sum)
		}
	})
}
