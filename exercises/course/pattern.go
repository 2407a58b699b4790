package course

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Pattern describes the places of submissions below a folder, such as
// students/{student}/{exercise}: segments of a slash-separated path, in which {student}
// and {exercise} stand for names and * for anything. The zero Pattern matches nothing.
type Pattern struct {
	text     string
	segments []*regexp.Regexp
}

var placeholder = regexp.MustCompile(`\{[^}]*\}|\*`)

// ParsePattern reads a pattern. It needs one {student}; without {exercise}, the package
// of a submission tells its exercise.
func ParsePattern(s string) (Pattern, error) {
	p := Pattern{text: s}
	if s == "" || path.Clean(s) != s || path.IsAbs(s) || strings.HasPrefix(s, "..") || strings.Contains(s, `\`) {
		return Pattern{}, fmt.Errorf("%q is not a path below the repository, such as students/{student}/{exercise}", s)
	}
	seen := map[string]int{}
	for segment := range strings.SplitSeq(s, "/") {
		expression := "^"
		rest := segment
		for {
			at := placeholder.FindStringIndex(rest)
			if at == nil {
				break
			}
			name := rest[at[0]:at[1]]
			seen[name]++
			expression += regexp.QuoteMeta(rest[:at[0]]) + groups[name]
			rest = rest[at[1]:]
			if groups[name] == "" {
				return Pattern{}, fmt.Errorf("%s in %q is unknown: use {student}, {exercise} or *", name, s)
			}
		}
		p.segments = append(p.segments, regexp.MustCompile(expression+regexp.QuoteMeta(rest)+"$"))
	}
	if seen["{student}"] != 1 || seen["{exercise}"] > 1 {
		return Pattern{}, errors.New("want {student} once, and {exercise} at most once")
	}
	return p, nil
}

// groups are the expressions of the placeholders. An exercise's is narrow, so that
// {exercise}-{student} splits autograd-jane-doe in one way only.
var groups = map[string]string{"{student}": `(?P<student>.+)`, "{exercise}": `(?P<exercise>[a-z][a-z0-9]*)`, "*": `.*`}

func (p Pattern) String() string { return p.text }

// Depth returns the number of segments.
func (p Pattern) Depth() int { return len(p.segments) }

// Match matches a path of at most [Pattern.Depth] segments with the first segments of
// the pattern.
func (p Pattern) Match(name string) (student, exercise string, ok bool) {
	parts := strings.Split(name, "/")
	if len(parts) > len(p.segments) {
		return "", "", false
	}
	for i, part := range parts {
		m := p.segments[i].FindStringSubmatch(part)
		if m == nil {
			return "", "", false
		}
		for j, group := range p.segments[i].SubexpNames() {
			switch group {
			case "student":
				student = m[j]
			case "exercise":
				exercise = m[j]
			}
		}
	}
	return student, exercise, true
}

// StudentOf returns the student in a path, and the path up to the segment with
// {student}. The segments after it may be anything.
func (p Pattern) StudentOf(name string) (student, dir string, ok bool) {
	at := slices.IndexFunc(p.segments, func(r *regexp.Regexp) bool { return r.SubexpIndex("student") >= 0 })
	parts := strings.Split(name, "/")
	if at < 0 || len(parts) <= at {
		return "", "", false
	}
	dir = path.Join(parts[:at+1]...)
	if student, _, ok = p.Match(dir); !ok {
		return "", "", false
	}
	return student, dir, true
}

// Submission returns the folder of the submission that a file belongs to.
func (p Pattern) Submission(file string) (dir, student, exercise string, ok bool) {
	parts := strings.Split(file, "/")
	if p.text == "" || len(parts) < len(p.segments) || slices.Contains(parts, "..") {
		return "", "", "", false
	}
	dir = path.Join(parts[:len(p.segments)]...)
	student, exercise, ok = p.Match(dir)
	return dir, student, exercise, ok
}
