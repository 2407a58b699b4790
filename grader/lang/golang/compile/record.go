package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// recordTo names, in the environment of the go command, the file that calls are noted in.
const recordTo = "GRADE_RECORD"

// recipe is a build that can be repeated.
type recipe struct {
	Version  int
	Dir      string // that the build's own files were in
	Scratch  string // the folder for its output
	Calls    []toolCall
	Packages string // places of what a submission may import, as in an import configuration
}

// recipeVersion changes with the meaning of a recipe.
const recipeVersion = 1

// toolCall is one call of the compiler or the linker.
type toolCall struct {
	Dir   string
	Args  []string          // the tool first
	Files map[string]string // what the go command has written for it, by names
}

// temporary matches the folder that the go command writes for its tools in.
var temporary = regexp.MustCompile(`/go-build[0-9]+/`)

// record builds by the go command and writes the recipe. What cannot be recorded leaves no
// recipe, and costs no build.
func record(to string, command []string, getenv func(string) string) int {
	log := to + ".calls"
	if code := call(command, recordTo+"="+log); code != 0 {
		return code
	}
	if err := writeRecipe(to, log, command[0], strings.Fields(getenv("GRADE_PACKAGES"))); err != nil {
		fmt.Fprintf(os.Stderr, "compile: no recipe: %v\n", err)
	}
	return 0
}

func writeRecipe(to, log, goCommand string, packages []string) error {
	calls, err := readCalls(log)
	if err == nil {
		err = whole(calls)
	}
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	list := exec.Command(goCommand, append([]string{"list", "-export", "-deps", "-trimpath", "-buildvcs=false",
		"-f", "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}"}, packages...)...)
	list.Stderr = os.Stderr
	places, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	data, err := json.Marshal(recipe{recipeVersion, dir, filepath.Dir(to), calls, string(places)})
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o666)
}

// whole returns an error if the go command has taken what depends on the package out of its
// cache: another package needs it compiled anew.
func whole(calls []toolCall) error {
	n := len(calls)
	if n < 3 || tool(calls[n-1].Args) != "link" {
		return errors.New("the calls do not end with the linker's")
	}
	if p, _ := flag(calls[n-2].Args, "p"); p != "main" {
		return errors.New("the tests were not compiled")
	}
	return nil
}

// note appends a call to the log. The go command starts a call when all that it reads is
// there, so that calls in the order of their notes find theirs. Of several notes at a
// time each is written whole.
func note(log string, command []string) error {
	if _, isVersion := flag(command, "V"); isVersion {
		return nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	c := toolCall{Dir: dir, Args: command, Files: map[string]string{}}
	for _, arg := range command {
		if err := c.keep(arg); err != nil {
			return err
		}
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	return errors.Join(err, f.Close())
}

// keep copies a text file of the go command's own that an argument names.
func (c *toolCall) keep(name string) error {
	if !temporary.MatchString(name) || !strings.Contains(filepath.Base(name), "importcfg") && !strings.HasSuffix(name, ".go") {
		return nil
	}
	data, err := os.ReadFile(name)
	c.Files[name] = string(data)
	return err
}

func readCalls(log string) (calls []toolCall, err error) {
	f, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	for {
		var c toolCall
		if err := d.Decode(&c); errors.Is(err, io.EOF) {
			return calls, nil
		} else if err != nil {
			return nil, err
		}
		if t := tool(c.Args); t != "compile" && t != "link" {
			return nil, fmt.Errorf("%s is no tool that a recipe knows", t)
		}
		calls = append(calls, c)
	}
}
