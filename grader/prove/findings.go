package prove

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"grade/exercises/course/document"
	"grade/grader/fault"
)

// Finding is a fault of an exercise: the author's, never a student's.
type Finding struct {
	File    string `json:"file"` // below the course's root
	Line    int    `json:"line"` // 0: the file as a whole
	Message string `json:"message"`
}

func (f Finding) String() string { return inPlace(f.File, f.Line, f.Message) }

// inPlace returns a message after its place, as far as that is known.
func inPlace(file string, line int, message string) string {
	if line > 0 {
		return fmt.Sprintf("%s:%d: %s", file, line, message)
	}
	return strings.TrimPrefix(file+": "+message, ": ")
}

func (c *Checking) find(file string, line int, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Findings = append(c.report.Findings, Finding{file, line, fmt.Sprintf(format, args...)})
}

const ungraded = "it cannot be graded: "

// ungradable adds a finding for a fault of the exercise that prevents a verdict: at the line
// of a hidden test that crashes, at a limit that is too low, at the compiler's line, or at
// its check. Every grading reports the fault; it is added once.
func (c *Checking) ungradable(err error, heard *Explanations) {
	at := places(err.Error())
	check, cause := fault.AboutCheck(err)
	if c.tooTight(err, heard) {
		return
	}
	if broken, ok := c.brokenTest(err, heard); ok {
		at = []Finding{broken}
	} else if check != "" {
		at = []Finding{{c.configFile(), c.lineOf(check), cause.Error()}}
	} else if len(at) == 0 {
		at = []Finding{{File: path.Join("exercises", c.exercise.Name, "hidden"), Message: err.Error()}}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range at {
		if !slices.ContainsFunc(c.report.Findings, func(old Finding) bool {
			return old.File == f.File && old.Line == f.Line && strings.HasPrefix(old.Message, ungraded)
		}) {
			c.report.Findings = append(c.report.Findings, Finding{f.File, f.Line, ungraded + f.Message})
		}
	}
}

var place = regexp.MustCompile(`(?m)^((?:exercises|reference)/\S+\.go):(\d+)(?::\d+)?: (.+)$`)

// places returns the positions in the compiler's errors about a reference. No output of
// a submission is in such an error.
func places(text string) (list []Finding) {
	for _, m := range place.FindAllStringSubmatch(text, -1) {
		line, _ := strconv.Atoi(m[2])
		list = append(list, Finding{m[1], line, m[3]})
	}
	return list
}

// problems adds the faults that package course reports.
func (c *Checking) problems(err error) {
	dir := path.Join("exercises", c.report.Exercise)
	for _, err := range each(err) {
		var p *document.Fault
		if !errors.As(err, &p) {
			c.find(dir, 0, "%v", err)
			continue
		}
		file := p.File
		if !strings.HasPrefix(file, "reference/") {
			file = path.Join(dir, file)
		}
		c.find(file, p.Line, "%v", p.Err)
	}
}

func (c *Checking) configFile() string {
	return path.Join("exercises", c.exercise.Name, "exercise.yaml")
}

// lineOf returns the line of a check in exercise.yaml.
func (c *Checking) lineOf(check string) int {
	for _, known := range c.exercise.Checks {
		if known.Name == check {
			return known.Line
		}
	}
	return 0
}
