// Package forge reads what GitHub Actions or GitLab CI says about the current run: the
// commit, the base to compare with, and the time when the server got it. It reads the
// environment and the event alone. It knows neither repositories nor exercises, and never
// the dates in a commit, which its author has chosen.
package forge

import (
	"strings"
	"time"
)

// Run describes a run of a CI. The zero Run is outside of any CI.
type Run struct {
	Name    string // in words; empty: not in a CI
	Dir     string // the folder of the checkout; empty: not known
	Request bool   // a pull or merge request
	Trusted bool   // the commit is one of the default branch: what is in it is the course's own
	Fork    bool   // a request from another repository

	Head string // the commit that it is about; empty: what is checked out
	Base string // a request's base, or what a branch was before a push; empty: unknown
	// Target is the branch that a request is for, by its name in a clone. Forges leave Base
	// as it was when the request was opened, and the branch has moved on since.
	Target string
	// Fallback is the default branch as a clone knows it, for a push that has no Base in
	// the clone; empty: everything is new then.
	Fallback   string
	Everything bool // it is about no change in particular, as a schedule is not
	Unclear    bool // the event is one that says nothing of what has changed
	Nothing    bool // a branch was deleted

	// Rules are the revisions that the rules of the course may be read from; the first one
	// in the clone counts. No student can write to them.
	Rules []string

	Submitted time.Time // when the server got Head; zero: it does not say
	Source    string    // of that time, in words

	Annotates bool   // the CI obeys workflow commands on standard output
	Summary   string // the file to append a summary to; empty: none
	Outputs   string // the file to append outputs to; empty: none
}

// Read detects the CI. Env looks up a variable, and read reads a file.
func Read(env func(string) string, read func(string) ([]byte, error)) (Run, error) {
	switch {
	case env("GITHUB_ACTIONS") == "true":
		return github(env, read)
	case env("GITLAB_CI") == "true":
		return gitlab(env)
	}
	return Run{}, nil
}

// commit returns the commit in a payload, or "" for the zeros that forges write for none.
func commit(s string) string {
	if strings.Trim(s, "0") == "" {
		return ""
	}
	return s
}

// tracking returns the name in a clone of its origin's branch.
func tracking(branch string) string {
	if branch == "" {
		return ""
	}
	return "refs/remotes/origin/" + branch
}

// known returns the revisions that are not empty.
func known(list ...string) (out []string) {
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}
