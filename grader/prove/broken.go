package prove

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/judge"
	"grade/grader/verdict"
)

// brokenTest is the finding for a hidden test that gives no measure with the reference: at
// the author's own line, with the stack or the test's own words. ok is false if the run
// names no such line.
func (c *Checking) brokenTest(err error, heard *Explanations) (f Finding, ok bool) {
	check, _ := fault.AboutCheck(err)
	run, ok := heard.run(check, "")
	if !ok || run.Verdict != "" {
		return f, false
	}
	if check == "" {
		check = "the program, before any test,"
	}
	stderr, stdout := tail(run.Reference.Stderr), tail(run.Reference.Stdout)
	if f.File, f.Line, ok = c.frame(stderr); ok {
		f.Message = fmt.Sprintf("%s crashes with the reference:\n%s", check, stderr)
		return f, true
	}
	if f.File, f.Line, ok = c.reported(stdout); ok {
		f.Message = fmt.Sprintf("%s fails with the reference:\n%s", check, stdout)
	}
	return f, ok
}

// tooTight finds a limit that the reference exceeds, where its run is no measure, and reports
// whether one did. A stack beside it is the runtime's farewell, and is no crash, unless the
// stack is what was too long.
func (c *Checking) tooTight(err error, heard *Explanations) bool {
	check, _ := fault.AboutCheck(err)
	run, ok := heard.run(check, "")
	if !ok || run.Verdict != "" {
		return false
	}
	_, _, stack := c.frame(tail(run.Reference.Stderr))
	v, detail := judge.Start(run.Reference, func([]byte) string { return "" })
	if v == verdict.OutputLimit && stack {
		return false
	}
	return c.exceeds(ungraded+cmp.Or(check, "the program, before any test"), v, detail)
}

// exceeds finds a limit that the reference exceeds in a check, if v is the verdict of one, and
// reports whether it is. Each limit is told once: one that is too low fails all checks.
func (c *Checking) exceeds(check string, v verdict.Verdict, detail string) bool {
	if v != verdict.MemoryLimit && v != verdict.TimeLimit && v != verdict.OutputLimit {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.exceeded, v) {
		c.exceeded = append(c.exceeded, v)
		c.report.Findings = append(c.report.Findings, c.atLimits(check+": the reference "+detail))
	}
	return true
}

// atLimits is the finding for a run of ours that a limit has ended, with the figures.
func (c *Checking) atLimits(what string) Finding {
	return Finding{c.configFile(), c.exercise.LimitsLine, what + ": raise that limit, or ask for less. " + c.exercise.Limits.String()}
}

// frame returns the first line of the exercise's own files in a stack.
func (c *Checking) frame(stack string) (file string, line int, ok bool) {
	name := regexp.QuoteMeta(c.exercise.Name)
	own := regexp.MustCompile(`(?m)^\s+\S*?((?:exercises/` + name + `/hidden|reference/` + name + `)/[^/\s]+\.go):(\d+)`)
	return found(own.FindStringSubmatch(stack))
}

var reportedAt = regexp.MustCompile(`(?m)^\s+(\w+_test\.go):(\d+): `)

// reported returns the line at which a hidden test says what is wrong, by t.Error or t.Fatal.
func (c *Checking) reported(output string) (file string, line int, ok bool) {
	file, line, ok = found(reportedAt.FindStringSubmatch(output))
	own := slices.ContainsFunc(c.exercise.Hidden, func(f course.File) bool { return f.Name == file })
	return path.Join("exercises", c.exercise.Name, "hidden", file), line, ok && own
}

func found(match []string) (file string, line int, ok bool) {
	if match == nil {
		return "", 0, false
	}
	line, _ = strconv.Atoi(match[2])
	return match[1], line, true
}

// told joins the first differences of an explanation, for a finding.
func told(differs []string) string {
	const most = 3
	if more := len(differs) - most; more > 0 {
		differs = append(slices.Clone(differs[:most]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(differs, "; ")
}
