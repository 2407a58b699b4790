package course

import (
	"fmt"
	"io/fs"
	"path"
)

// The kit is the module that hidden tests import. A course of another module holds its
// copy in a folder.
const (
	KitModule = "grade"
	KitDir    = "kit"
)

// Kit returns the kit's files for a course, without tests, out of a tree that holds
// them: in their own folders for grade's own course, and as a module in [KitDir] for a
// course of another module.
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
			if isTest(name) {
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
