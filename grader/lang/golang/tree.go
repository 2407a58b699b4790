package golang

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/sandbox"
)

var buildSpec = sandbox.Spec{Purpose: sandbox.Build, Memory: buildMemory, Pids: buildPids, Scratch: buildScratch}

// buildRequest compiles the tests in directory pkg of a tree by the go command. The typed vet
// runs when that compiles the package vetted.
func buildRequest(d sandbox.Dirs, files []sandbox.File, pkg, vetted string, imports []string) sandbox.Request {
	tool := path.Join(filepath.ToSlash(d.Work), toolName)
	args := append(slices.Clone(buildFlags), "-toolexec="+tool, "-o", path.Join(d.Scratch, programName), pkg)
	return sandbox.Request{
		Files: files, Path: path.Join(d.GoRoot, "bin", "go"), Args: args, Forks: true,
		Env: append(buildEnvironment(d, "CGO_ENABLED=0"),
			"GRADE_VET_PKG="+vetted, "GRADE_VET_OUT="+path.Join(d.Scratch, reportName), "GRADE_VET_IMPORTS="+strings.Join(imports, ",")),
		Collect: []string{programName, reportName},
		Limits: sandbox.Limits{
			Wall: buildWall, CPU: buildTime, Stdout: buildOutput, Stderr: buildOutput, CollectMax: programMax, Memory: buildMemory,
		},
	}
}

// recorded makes a request by the go command one that also writes down how it built.
func recorded(q sandbox.Request, d sandbox.Dirs) sandbox.Request {
	q.Args = slices.Concat([]string{"record", path.Join(d.Scratch, recipeName), q.Path}, q.Args)
	q.Path = toolName
	q.Env = append(q.Env, "GRADE_PACKAGES="+strings.Join(strings.Fields(warmPackages), " "))
	q.Collect = append(q.Collect, recipeName)
	return q
}

// replayed makes a request by the go command one that repeats a recorded build with some
// files, which has the go command at hand.
func replayed(q sandbox.Request, d sandbox.Dirs, name string, recipe []byte, files []string) sandbox.Request {
	q.Files = append(slices.Clip(q.Files), sandbox.File{Name: name, Data: recipe})
	q.Args = slices.Concat([]string{"replay", path.Join(filepath.ToSlash(d.Work), name), q.Path}, q.Args)
	q.Path = toolName
	for i, f := range files {
		files[i] = path.Join(filepath.ToSlash(d.Work), f)
	}
	q.Env = append(q.Env, "GRADE_FILES="+strings.Join(files, ","))
	return q
}

// buildEnvironment returns the whole environment of the go command: nothing of the
// machine's, and nothing that makes it look elsewhere for a toolchain or a module.
func buildEnvironment(d sandbox.Dirs, more ...string) []string {
	return append([]string{
		"HOME=/nonexistent", "GOENV=off", "GOTOOLCHAIN=local", "GOPROXY=off", "GOSUMDB=off", "GOWORK=off",
		"GOFLAGS=-mod=readonly", "GOTELEMETRY=off",
		// An ordinary build ends before the tools' own heaps need a collection.
		"GOGC=off", fmt.Sprintf("GOMEMLIMIT=%d", buildMemory/4),
		"GOROOT=" + d.GoRoot, "GOCACHE=" + d.GoCache, "GOPATH=" + path.Join(d.Scratch, "go"),
		"GOTMPDIR=" + d.Scratch, "TMPDIR=" + d.Scratch, "PATH=" + path.Join(d.GoRoot, "bin"),
	}, more...)
}

// kitFiles returns the part of a build tree that is the same for every exercise of a
// course: the kit, and the go.mod of the module that holds or requires it.
func kitFiles(kit fs.FS, module string) ([]sandbox.File, error) {
	mod := "module " + module + "\n\ngo " + goVersion + "\n"
	if module != course.KitModule {
		mod += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %[1]s => ./%s\n", course.KitModule, course.KitDir)
	}
	files := []sandbox.File{{Name: "go.mod", Data: []byte(mod)}}
	own, err := course.Kit(kit, module, goVersion)
	for _, f := range own {
		files = append(files, sandbox.File{Name: f.Name, Data: f.Data})
	}
	return files, err
}

func packageDir(e *course.Exercise) string { return strings.TrimPrefix(e.ImportPath, e.Module+"/") }
func hiddenDir(e *course.Exercise) string  { return path.Join("exercises", e.Name, "hidden") }

func contents(files []course.File) map[string][]byte {
	m := map[string][]byte{}
	for _, f := range files {
		m[f.Name] = f.Data
	}
	return m
}
