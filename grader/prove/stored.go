package prove

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"grade/grader/fault"
)

// Stored is a submission that was kept.
type Stored struct{ Name, Dir string }

// StoredIn returns the folders below dir whose names match a pattern, hidden ones apart. That
// there is none is a [fault.UsageError].
func StoredIn(dir, pattern string) (list []Stored, err error) {
	root := os.DirFS(dir)
	names, err := fs.Glob(root, pattern)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if info, err := fs.Stat(root, name); err == nil && info.IsDir() && !strings.HasPrefix(path.Base(name), ".") {
			list = append(list, Stored{Name: name, Dir: filepath.Join(dir, filepath.FromSlash(name))})
		}
	}
	if len(list) == 0 {
		return nil, &fault.UsageError{Message: dir + ": no folder with a submission"}
	}
	return list, nil
}
