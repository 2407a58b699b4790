package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"grade/exercises/course"
)

const hintDepth = "fetch the whole history: fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 in GitLab CI"

// span is what is looked at: what has changed from one commit to another.
type span struct {
	head    string
	base    string // empty: all of head
	nothing bool   // there is no head any more
}

func (s span) String() string {
	switch {
	case s.nothing:
		return "a branch that was deleted"
	case s.base == "":
		return "all of commit " + s.head
	}
	return "what changed from commit " + s.base + " to commit " + s.head
}

// since decides which commit is graded, and since when.
func (o *ciOptions) since(ctx context.Context) (s span, err error) {
	if o.forge.Nothing {
		return span{nothing: true}, nil
	}
	if s.head, err = o.commit(ctx, cmp.Or(o.forge.Head, "HEAD"), "the commit to be graded"); err != nil {
		return span{}, err
	}
	switch {
	case o.base != "":
		s.base, err = o.mergeBase(ctx, o.base, s.head)
	case o.all, o.forge.Everything:
	case o.forge.Name == "":
		return span{}, usage("say it: --base REVISION or --all", "this is neither GitHub Actions nor GitLab CI: what is there to be graded?")
	case o.forge.Unclear:
		return span{}, usage("say it: --base REVISION or --all", "%s says nothing of what has changed", o.forge.Name)
	case o.forge.Request:
		s.base, err = o.parted(ctx, s.head)
	default:
		s.base, err = o.beforePush(ctx, s.head)
	}
	return s, err
}

// commit finds a commit that has to be there.
func (o *ciOptions) commit(ctx context.Context, revision, what string) (string, error) {
	id, ok, err := o.repo.Commit(ctx, revision)
	if err == nil && !ok {
		err = usage(hintDepth+", and the commit itself: ref: ${{ github.event.pull_request.head.sha }}", "%s, %s, is not in the clone at %s", what, revision, o.dir)
	}
	return id, err
}

// mergeBase is where head and another branch have parted. Without such a commit, all of
// head is new.
func (o *ciOptions) mergeBase(ctx context.Context, revision, head string) (string, error) {
	other, err := o.commit(ctx, revision, "the base")
	if err != nil {
		return "", err
	}
	base, ok, err := o.repo.MergeBase(ctx, other, head)
	if err != nil || ok {
		return base, err
	}
	if err := o.deep(ctx, "where "+revision+" and "+head+" have parted"); err != nil {
		return "", err
	}
	o.note("warning: %s and %s have no commit in common: all is graded", revision, head)
	return "", nil
}

// parted is where a request has parted from the branch that it is for. If the request has
// taken in what was new on that branch, that is later than where its base says.
func (o *ciOptions) parted(ctx context.Context, head string) (string, error) {
	base, err := o.mergeBase(ctx, o.forge.Base, head)
	if err != nil || o.forge.Target == "" {
		return base, err
	}
	target, ok, err := o.repo.Commit(ctx, o.forge.Target)
	if err != nil || !ok {
		return base, err
	}
	later, ok, err := o.repo.MergeBase(ctx, target, head)
	if err != nil || !ok || later == head { // the run is repeated, and the request was merged meanwhile
		return base, err
	}
	if base == "" {
		return later, nil
	}
	if first, ok, err := o.repo.MergeBase(ctx, base, later); err != nil || !ok || first != base {
		return base, err
	}
	return later, nil
}

// beforePush is what a branch was before a push. A new one is compared with the default
// branch, and so is one that was pushed over something which is gone now.
func (o *ciOptions) beforePush(ctx context.Context, head string) (string, error) {
	if o.forge.Base != "" {
		id, ok, err := o.repo.Commit(ctx, o.forge.Base)
		if err != nil || ok {
			return id, err
		}
		if err := o.deep(ctx, "the commit before the push, "+o.forge.Base+","); err != nil {
			return "", err
		}
		o.note("warning: the commit before the push, %s, is gone, as after a forced push: more than it has changed may be graded", o.forge.Base)
	}
	if o.forge.Fallback == "" {
		return "", nil
	}
	if _, ok, err := o.repo.Commit(ctx, o.forge.Fallback); err != nil || !ok {
		if err == nil {
			err = o.deep(ctx, o.forge.Fallback)
		}
		o.note("warning: the clone has no %s: all is graded", o.forge.Fallback)
		return "", err
	}
	return o.mergeBase(ctx, o.forge.Fallback, head)
}

// deep is an error where something is not in the clone because the clone lacks history.
func (o *ciOptions) deep(ctx context.Context, what string) error {
	shallow, err := o.repo.Shallow(ctx)
	if err == nil && shallow {
		err = usage(hintDepth, "the clone at %s is shallow: %s is not in it", o.dir, what)
	}
	return err
}

func policyOf(courseDir string) string { return filepath.Join(courseDir, course.PolicyFile) }

// apart makes sure that course, rules and results do not lie in a checkout whose
// author could have written them, and that no report is written through a
// link that the checkout brought along.
func (o *ciOptions) apart() error {
	for _, ours := range []struct{ flag, path string }{{"--course", o.app.courseDir}, {"--policy", o.policy}, {"--results", o.results}} {
		if ours.path == "" || o.forge.Name == "" || o.forge.Trusted {
			continue
		}
		if rel, ok := below(resolved(o.repo.Top()), resolved(ours.path)); ok {
			return usage("check out what is yours into another folder than what is to be graded", "%s %s lies in the checkout that is graded, as %s: its author could have written it", ours.flag, ours.path, rel)
		}
	}
	for _, t := range o.reports.targets {
		if link := cmp.Or(linkOnTheWay(o.dir, t.file), linkOnTheWay(o.repo.Top(), t.file)); link != "" && t.file != toStdout {
			return usage("write it elsewhere", "--report %s=%s: %s is a link in the checkout", t.Name, t.file, link)
		}
	}
	return nil
}

// resolved is where a path leads, as far as there is something.
func resolved(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// linkOnTheWay is a link below root that a file would be written through; empty: none.
func linkOnTheWay(root, file string) string {
	rel, ok := below(root, file)
	if !ok {
		return ""
	}
	name := root
	for part := range strings.SplitSeq(rel, "/") {
		name = filepath.Join(name, part)
		if info, err := os.Lstat(name); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return name
		}
	}
	return ""
}

// announce says in the log what is graded and what is not.
func (o *ciOptions) announce(s span, found findings) {
	where := cmp.Or(o.forge.Name, "here")
	if o.forge.Fork {
		where += ", from a fork"
	}
	o.note("%s: %s, %s", where, s, several(len(found.list), "submission"))
	o.noteEach(found.deleted, "was deleted: not graded")
	o.noteEach(found.foreign, "is not "+o.student+"'s: not graded, and it should not be changed here")
	o.noteEach(found.links, "is a link or a submodule: not followed, and there should be a folder")
	o.noteEach(found.unknown, "is in no exercise of the course: not graded")
	if n := len(found.outside); n > 0 && s.base != "" {
		o.note("%s in no submission changed as well, such as %s", several(n, "name"), found.outside[0])
	}
}

// maxNoted is how many names of one kind stand in the log.
const maxNoted = 20

func (o *ciOptions) noteEach(names []string, what string) {
	for _, name := range names[:min(len(names), maxNoted)] {
		o.note("%s %s", name, what)
	}
	if n := len(names) - maxNoted; n > 0 {
		o.note("… and so are %d more", n)
	}
}

func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
