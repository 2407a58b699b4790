package course

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// The kit is the module that hidden tests import. A course of another module holds a
// copy of it in a folder.
const (
	KitModule = "grade"
	KitDir    = "kit"
)

// Kit returns the files that hidden tests of a course import, out of a tree that holds
// them, without tests: where grade's own course has them, and in a course of another
// module as a module in a folder.
func Kit(tree fs.FS, module, goVersion string) (files []File, err error) {
	prefix := ""
	if module != KitModule {
		prefix = KitDir
		files = append(files, File{path.Join(KitDir, "go.mod"), fmt.Appendf(nil, "module %s\n\ngo %s\n", KitModule, goVersion)})
	}
	for _, dir := range []string{"observe", "observe/wire"} {
		names, err := fs.Glob(tree, dir+"/*.go")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			data, err := fs.ReadFile(tree, name)
			if err != nil {
				return nil, err
			}
			files = append(files, File{path.Join(prefix, name), data})
		}
	}
	return files, nil
}
