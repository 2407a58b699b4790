package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/service/engine"
	"grade/service/people"
	"grade/service/site"
)

// servedCourse is a course that is read anew when its files have changed.
type servedCourse struct {
	options *serveOptions
	engine  *engine.Engine
	door    *people.Door
	log     *slog.Logger
	current atomic.Pointer[site.Course]
	print   uint64 // of the files, see fingerprint
	asked   chan struct{}
}

// openCourse reads the course. A service without a course does not start.
func (o *serveOptions) openCourse(ctx context.Context, e *engine.Engine, d *people.Door, log *slog.Logger) (*servedCourse, error) {
	c := &servedCourse{options: o, engine: e, door: d, log: log, print: o.fingerprint(), asked: make(chan struct{}, 1)}
	return c, c.load(ctx)
}

// askAgain has the course read anew, soon.
func (c *servedCourse) askAgain() {
	select {
	case c.asked <- struct{}{}:
	default: // it will be
	}
}

// read returns the course as it was read last.
func (c *servedCourse) read() *site.Course { return c.current.Load() }

// load reads the course, its rules and its people, and changes nothing if one cannot be read,
// but that the first course may lack an exercise.
func (c *servedCourse) load(ctx context.Context) error {
	files, err := c.options.app.course()
	if err != nil {
		return err
	}
	policy, err := c.options.app.policy(c.options.policyFile)
	if err != nil {
		return err
	}
	list, err := people.FromRoster(policy.Members)
	if err != nil {
		return &fault.Error{Message: err.Error(), Advice: "mend the roster that grade.yaml names"}
	}
	people.SpellAs(list, c.engine.Cells())
	names, err := files.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if slices.Contains(site.Reserved, name) {
			return usage("give it another name", "an exercise cannot be called %s in a service: its address would be that of another page", name)
		}
	}
	chapters, unordered := files.Chapters()
	if unordered != nil && c.read() != nil { // the last course goes on, whole
		return unordered
	}
	all, broken, err := c.engine.SetCourse(ctx, files.FS())
	if err = errors.Join(append(broken, err)...); err != nil && len(all) == 0 {
		return err
	}
	for _, err := range broken {
		c.log.Error("an exercise is left out", "error", err)
	}
	if unordered != nil {
		c.log.Error("the chapters are not as they are meant", "error", unordered)
		broken = append(broken, unordered)
	}
	c.door.SetRoster(list)
	if err := c.door.Overtake(ctx); err != nil {
		c.log.Error("who was invited before the roster named them is tried again with the next course", "error", err)
	}
	c.current.Store(&site.Course{Policy: policy, Exercises: all, Chapters: chapters, Faults: messages(broken)})
	c.log.Info("course read", "exercises", len(all), "people", len(list), "title", policy.Title)
	return nil
}

// lookEvery is how often the files of a course are looked at.
const lookEvery = 10 * time.Second

// follow reads the course anew whenever its files have changed or the process is asked to, until
// the context ends.
func (c *servedCourse) follow(ctx context.Context, hung <-chan os.Signal) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			if print := c.options.fingerprint(); print != c.print && c.again(ctx) {
				c.print = print
			}
		case <-hung:
			c.again(ctx)
		case <-c.asked:
			c.again(ctx)
		}
	}
}

// again reads the course anew. It reports whether that is done: where a fault is not the
// course's, the next look tries it again.
func (c *servedCourse) again(ctx context.Context) bool {
	err := c.load(ctx)
	if err == nil {
		return true
	}
	c.log.Error("the course cannot be read; the last one goes on", "error", err)
	last := *c.read()
	last.Faults = messages([]error{err})
	c.current.Store(&last)
	return fault.KindOf(err) != fault.Ours
}

func messages(errs []error) (list []string) {
	for _, err := range errs {
		list = append(list, err.Error())
	}
	return list
}

// fingerprint changes with names, sizes and times of the files of the course and of its rules,
// which may lie elsewhere. The course in the binary does not change.
func (o *serveOptions) fingerprint() uint64 {
	sum := fnv.New64a()
	for _, name := range o.rules() {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprintln(sum, name, info.Size(), info.ModTime().UnixNano())
		}
	}
	if o.app.courseDir == "" {
		return sum.Sum64()
	}
	_ = fs.WalkDir(course.Folder(o.app.courseDir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // load tells
		}
		if d.IsDir() && name != "." && d.Name()[0] == '.' {
			return fs.SkipDir
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			fmt.Fprintln(sum, name, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return sum.Sum64()
}

// rules lists the files of the rules that hold: the grade.yaml and those that it names. Of one
// that cannot be read it lists no more.
func (o *serveOptions) rules() []string {
	names, _ := o.app.names() // load tells, here and below
	file, data, _ := o.app.readRules(o.policyFile)
	if file == "" {
		return nil
	}
	list := []string{file}
	if p, err := course.ParsePolicy(file, data, names); err == nil {
		for _, named := range []string{p.Times, p.Roster} {
			if named != "" {
				list = append(list, filepath.Join(filepath.Dir(file), named))
			}
		}
	}
	return list
}
