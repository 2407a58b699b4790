package course

import (
	"fmt"
	"io/fs"
	"path"

	"grade/exercises/course/document"
)

// Strays reports what lies below exercises/ as an exercise does and is none by [Course.Names],
// so that students do not see it: without its exercise.yaml, or behind a link. Each is a
// [document.Fault] whose file is named below the course's root.
func (c *Course) Strays() error {
	entries, err := fs.ReadDir(c.fsys, ExercisesDir)
	if err != nil {
		return fmt.Errorf("list exercises: %w", err)
	}
	p := &document.Faults{Doing: "list exercises"}
	for _, e := range entries {
		if fault := c.stray(e); fault != "" {
			p.Add(path.Join(ExercisesDir, e.Name()), 0, "%s", fault)
		}
	}
	return p.Join()
}

// stray says why an entry of exercises/ is no exercise although it looks like one.
func (c *Course) stray(e fs.DirEntry) string {
	has := func(name string) bool {
		_, err := fs.Stat(c.fsys, path.Join(ExercisesDir, e.Name(), name))
		return err == nil
	}
	looks := has(hiddenDir) || has(starterDir)
	switch {
	case e.Type()&fs.ModeSymlink != 0 && (looks || has(configFile)):
		return "it is a link, and no exercise is read through one: put the folder itself in its place"
	case !e.IsDir() || has(configFile):
		return ""
	case has(misnamedConfig):
		return fmt.Sprintf("it has %s, so that it is no exercise: call that file %s", misnamedConfig, configFile)
	case looks:
		return fmt.Sprintf("it has no %s, so that it is no exercise: write one, or remove the folder", configFile)
	}
	return ""
}
