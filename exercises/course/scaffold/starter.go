package scaffold

import (
	"cmp"
	"fmt"
	"go/version"
	"runtime"
	"slices"
	"strings"

	"grade/exercises/course"
)

// Starter returns the files that a student begins with, sorted by name. The course cannot
// store their go.mod: it would make the folder a module of its own, which go:embed leaves
// out.
func Starter(e *course.Exercise) []course.File {
	files := append(slices.Concat(e.Starter, e.Pictures),
		course.File{Name: "README.md", Data: e.Readme},
		course.File{Name: "go.mod", Data: fmt.Appendf(nil, "module %s\n\ngo %s\n", e.Name, GoVersion())},
	)
	slices.SortFunc(files, func(a, b course.File) int { return cmp.Compare(a.Name, b.Name) })
	return files
}

// GoVersion is the language version of the Go that built this binary.
func GoVersion() string {
	lang := version.Lang(runtime.Version())
	return strings.TrimPrefix(cmp.Or(lang, "go1.26"), "go") // a development version of Go has none
}
