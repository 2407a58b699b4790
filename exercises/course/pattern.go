package course

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Pattern is where submissions are below some folder, such as
// students/{student}/{exercise}: segments of a slash-separated path, in which {student}
// and {exercise} stand for names and * for anything. The zero Pattern matches nothing.
type Pattern struct {
	text     string
	segments []*regexp.Regexp
}

var placeholder = regexp.MustCompile(`\{[^}]*\}|\*`)

// ParsePattern reads a pattern. It needs one {student}; without {exercise}, a
// submission's package says which one it is of.
func ParsePattern(s string) (Pattern, error) {
	p := Pattern{text: s}
	if s == "" || path.Clean(s) != s || path.IsAbs(s) || strings.HasPrefix(s, "..") || strings.Contains(s, `\`) {
		return Pattern{}, fmt.Errorf("%q is no path below the repository, such as students/{student}/{exercise}", s)
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
				return Pattern{}, fmt.Errorf("%s in %q: there are {student}, {exercise} and *", name, s)
			}
		}
		p.segments = append(p.segments, regexp.MustCompile(expression+regexp.QuoteMeta(rest)+"$"))
	}
	if seen["{student}"] != 1 || seen["{exercise}"] > 1 {
		return Pattern{}, errors.New("want {student} once, and {exercise} at most once")
	}
	return p, nil
}

// groups are what stands for a name. An exercise's is narrow, so that
// {exercise}-{student} is clear about autograd-jane-doe.
var groups = map[string]string{"{student}": `(?P<student>.+)`, "{exercise}": `(?P<exercise>[a-z][a-z0-9]*)`, "*": `.*`}

func (p Pattern) String() string { return p.text }

// Depth is how many segments a path needs to match.
func (p Pattern) Depth() int { return len(p.segments) }

// Match reads the first segments of a path, no more than [Pattern.Depth]. It reports
// whether they are as the pattern says.
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

// StudentOf is whose a name is, and the part of it that says so: it reads as far as the
// segment with {student}, and what follows may be anything.
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

// Submission is the part of a file's name that is the submission it belongs to.
func (p Pattern) Submission(file string) (dir, student, exercise string, ok bool) {
	parts := strings.Split(file, "/")
	if p.text == "" || len(parts) < len(p.segments) || slices.Contains(parts, "..") {
		return "", "", "", false
	}
	dir = path.Join(parts[:len(p.segments)]...)
	student, exercise, ok = p.Match(dir)
	return dir, student, exercise, ok
}
