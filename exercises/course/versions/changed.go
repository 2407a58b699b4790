package versions

import (
	"context"
	"slices"
	"strings"

	"grade/exercises/course"
)

// shared lists what all exercises of a course are built with. In grade's own course the kit
// is observe/.
var shared = []string{"go.mod", "go.sum", course.KitDir, "observe"}

// ChangedSince asks git which exercises of the course in dir differ from a revision, and which
// files beside them such as chapters.yaml, including those that git does not track. all
// reports that something shared differs.
func ChangedSince(ctx context.Context, dir, revision string) (touched map[string]bool, all bool, err error) {
	touched = map[string]bool{}
	below := append([]string{"--", "exercises", "reference"}, shared...)
	for _, args := range [][]string{
		append([]string{"diff", "--name-only", "--no-renames", "--relative", "-z", "--end-of-options", revision}, below...),
		append([]string{"ls-files", "--others", "--exclude-standard", "-z"}, below...),
	} {
		out, err := git(ctx, dir, args...)
		if err != nil {
			return nil, false, err
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			parts := strings.Split(name, "/")
			all = all || slices.Contains(shared, parts[0])
			if len(parts) > 2 || len(parts) == 2 && parts[0] == course.ExercisesDir {
				touched[parts[1]] = true
			}
		}
	}
	return touched, all, nil
}
