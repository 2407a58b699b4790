package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"grade/grader/lang/golang/vet/typed"
	"grade/grader/verdict"
)

// replay repeats a recorded build for another package. The package is checked meanwhile. If
// a call fails, or the type checker is not sure of the package, the go command builds
// again: it finds out why, and says it.
func replay(name string, command []string, getenv func(string) string) int {
	output, _ := flag(command, "o")
	r, err := readRecipe(name, output, getenv)
	if err == nil {
		err = r.write()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "compile: %v\n", err)
		return become(command)
	}
	built := make(chan bool, 1)
	go func() { built <- r.build() }()
	problems, sure := r.check(getenv)
	switch well := <-built; {
	case !sure:
		return become(command)
	case len(problems) > 0:
		_ = os.Remove(output)
		report(problems, getenv)
		return 1
	case !well:
		return become(command)
	case getenv(reportTo) != "" && !report(nil, getenv):
		return 2
	}
	return 0
}

// check checks the package, if a report is asked for.
func (r *replaying) check(getenv func(string) string) (problems []verdict.Problem, sure bool) {
	if getenv(reportTo) == "" {
		return nil, true
	}
	return r.vetted.Check()
}

// replaying is a recipe in the folders of this box.
type replaying struct {
	recipe
	vetted typed.Package
}

// readRecipe makes a recipe fit: its folders become these, and the files of the package to
// check become those of the submission.
func readRecipe(name, output string, getenv func(string) string) (r *replaying, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r = &replaying{}
	if err := json.Unmarshal(data, &r.recipe); err != nil || r.Version != recipeVersion {
		return nil, fmt.Errorf("recipe: version %d, want %d: %w", r.Version, recipeVersion, err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	scratch := filepath.Dir(output)
	here := func(s string) string {
		s = strings.ReplaceAll(s, r.Scratch, "\x00") // either folder may lie below the other
		s = strings.ReplaceAll(s, r.Dir, dir)
		return temporary.ReplaceAllString(strings.ReplaceAll(s, "\x00", scratch), "/go-replay/")
	}
	for i := range r.Calls {
		r.Calls[i] = r.Calls[i].in(here)
	}
	if err := r.place(output, strings.Split(getenv("GRADE_FILES"), ","), getenv("GRADE_VET_PKG")); err != nil {
		return nil, err
	}
	configure(&r.vetted, getenv)
	return r, nil
}

// in returns the call with all its folders replaced.
func (c toolCall) in(here func(string) string) toolCall {
	moved := toolCall{Dir: here(c.Dir), Files: map[string]string{}}
	for _, arg := range c.Args {
		moved.Args = append(moved.Args, here(arg))
	}
	for name, data := range c.Files {
		moved.Files[here(name)] = here(data)
	}
	return moved
}

// place puts the submission's files and the output in the place of the reference's.
func (r *replaying) place(output string, files []string, pkg string) error {
	if err := whole(r.Calls); err != nil {
		return fmt.Errorf("recipe: %w", err)
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		c.reach(r.Packages)
		if tool(c.Args) == "compile" { // the linker drops what a debugger reads: -w
			c.Args = slices.Insert(c.Args, 1, "-dwarf=false")
		}
		if p, ok := parseCommand(c.Args); ok && p.Path == pkg {
			c.Args = slices.DeleteFunc(c.Args, func(arg string) bool { return strings.HasSuffix(arg, ".go") })
			c.Args = append(c.Args, files...)
			r.vetted, _ = parseCommand(c.Args)
		}
	}
	args := r.Calls[len(r.Calls)-1].Args
	i := slices.Index(args, "-o")
	if i < 0 || r.vetted.Path == "" {
		return fmt.Errorf("recipe: it does not compile %s", pkg)
	}
	args[i+1] = output
	return nil
}

// reach adds to the import configurations what the submission may import and the
// reference does not.
func (c *toolCall) reach(packages string) {
	for name, data := range c.Files {
		if !strings.Contains(filepath.Base(name), "importcfg") {
			continue
		}
		known := map[string]bool{}
		for line := range strings.Lines(data) {
			from, _, _ := strings.Cut(line, "=")
			known[from] = true
		}
		for line := range strings.Lines(packages) {
			if from, _, _ := strings.Cut(line, "="); !known[from] {
				data += line
			}
		}
		c.Files[name] = data
	}
}

// write writes what the calls read.
func (r *replaying) write() error {
	for _, c := range r.Calls {
		o, _ := flag(c.Args, "o")
		err := os.MkdirAll(filepath.Dir(o), 0o777)
		for name, data := range c.Files {
			err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(data), 0o666))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// build does the calls, one after the other, and reports whether all went well.
func (r *replaying) build() bool {
	return !slices.ContainsFunc(r.Calls, func(c toolCall) bool { return !c.run() })
}

func (c toolCall) run() bool {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir = c.Dir
	return cmd.Run() == nil // what it says, the go command will make it say again
}
