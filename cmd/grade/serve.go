package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"grade/service/engine"
	"grade/service/people"
	"grade/service/site"
)

type serveOptions struct {
	app        *app
	data       string
	policyFile string
	workers    int
	verbose    bool
	engine     engineFlags
	http       httpFlags
	oidc       oidcFlags
	sandbox    sandboxFlags
}

func newServe(a *app) *cobra.Command {
	o := &serveOptions{app: a}
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Serve a course: pages to hand in and to read, an API, a queue, workers",
		GroupID: groupInstructors,
		Long: `Serve a course on pages: students hand in and watch their gradings, staff see the
gradebook, the queue and what each student has handed in. One command on one machine is
the whole service; grade work adds machines. All that lasts is in the folder --data.

The first start prints a link that signs an instructor in. Roles come from the column Role
of the roster that grade.yaml names (student, staff, admin); grade serve invite prints
links, also for people who are not in the roster. docs/serving.md goes through all of it.

It listens on this machine alone unless --listen says otherwise, and then wants TLS: by
--tls-cert and --tls-key, by --autocert, or by a proxy in front of it, with --plain-http
and --proxy. The course is read anew when its files have changed, and on SIGHUP. If it
cannot be read, the log and the pages of staff say so, and the course read last stays.

SIGTERM ends it: a grading that is under way is given back, and begins anew later. What
was acknowledged is on the disk.`,
		Example: `  grade serve --course ../course
  grade serve --course ../course --data /var/lib/grade --listen :443 --autocert grade.example.org
  grade serve invite ada bo cem
  grade serve --workers 0 --nats nats://10.0.0.5:4222 --creds serve.creds   # pages alone`,
		Args:              aCommand,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := cmd.Flags()
	dataFlag(cmd, &o.data)
	policyFlag(cmd, &o.policyFile)
	f.IntVar(&o.workers, "workers", cpuWorkers(), "grade so many at a time in this process; 0: leave it to grade work")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log every request")
	o.engine.add(cmd)
	o.http.add(cmd)
	o.oidc.add(cmd)
	o.sandbox.addFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("workers", cobra.NoFileCompletions)
	cmd.AddCommand(newServeInvite(a), newServeCredentials(a), newServeExport(a), newServeImport(a))
	return cmd
}

// dataFlag adds the flag that names the folder of a service.
func dataFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "data", "grade-data", "keep all that lasts in the folder `DIR`")
	_ = cmd.MarkFlagDirname("data")
}

// check refuses flags that contradict each other before anything is opened.
func (o *serveOptions) check() error {
	if o.workers < 0 {
		return usage("", "--workers %d: want 0 or more", o.workers)
	}
	grading := gradingFlags{workers: max(1, o.workers), sandbox: o.sandbox}
	if err := grading.checkFor("serve"); err != nil {
		return err
	}
	o.sandbox = grading.sandbox
	return errors.Join(o.engine.check(o.http), o.http.check(), o.oidc.check())
}

func (o *serveOptions) run(ctx context.Context) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	log := o.app.logger(o.verbose)
	s, err := o.open(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.greet(ctx); err != nil {
		return err
	}
	return s.serve(ctx)
}

// logger logs for people on a terminal, and as JSON in a pipe.
func (a *app) logger(verbose bool) *slog.Logger {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	if a.err.IsTerminal() {
		return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
	}
	return slog.New(slog.NewJSONHandler(a.err, &slog.HandlerOptions{Level: level}))
}

// serving is a service with all its parts.
type serving struct {
	*serveOptions
	log     *slog.Logger
	engine  *engine.Engine
	door    *people.Door
	course  *servedCourse
	site    *site.Site
	listen  *listening
	control *control
	workers *inProcess
}

// open puts the parts together, in the order in which they need each other.
func (o *serveOptions) open(ctx context.Context, log *slog.Logger) (s *serving, err error) {
	s = &serving{serveOptions: o, log: log}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if o.engine.listen != "" {
		if o.engine.tls, err = o.http.tlsConfig(o.data); err != nil {
			return s, err
		}
		if o.engine.tls != nil {
			o.engine.tls.NextProtos = nil // they are of HTTP
		}
	}
	if s.engine, err = openServiceEngine(ctx, o.data, o.engine, log, o.app.now); err != nil {
		return s, err
	}
	if s.door, err = openDoor(ctx, s.engine, o.app.now); err != nil {
		return s, err
	}
	if s.course, err = o.openCourse(ctx, s.engine, s.door, log); err != nil {
		return s, err
	}
	if s.listen, err = o.http.open(o.data); err != nil {
		return s, err
	}
	if s.workers, err = o.openWorkers(ctx, s.engine, log); err != nil {
		return s, err
	}
	if s.site, err = s.openSite(ctx); err != nil {
		return s, err
	}
	s.control, err = openControl(o.data, s.door, s.engine, s.listen.address, s.course.askAgain)
	return s, err
}

// openSite wires the pages to what they need.
func (s *serving) openSite(ctx context.Context) (*site.Site, error) {
	keep, err := s.engine.KV(ctx, bucketSite)
	if err != nil {
		return nil, err
	}
	c := site.Config{
		Engine: s.engine, Results: s.engine.Store(), Door: s.door, Keep: keep, Course: s.course.read, Address: s.listen.address,
		Proxies: s.http.trusted, Version: buildVersionHere(), Now: s.app.now, Log: s.log,
	}
	if s.oidc.issuer != "" {
		if c.OIDC, err = s.oidc.open(s.door, s.listen.address); err != nil {
			return nil, err
		}
		c.Issuer = s.oidc.name
	}
	if s.workers != nil {
		c.Regrade = s.workers.regrade(s.course, s.app.now)
	}
	pages, err := site.New(c)
	if err != nil {
		return nil, err
	}
	pages.Check("engine", func() error { return s.engine.Alive(ctx) })
	return pages, nil
}

// greet prints where the service is, and at its first start a link for the instructor. The
// link is told after the listener is open, so that its reader can follow it.
func (s *serving) greet(ctx context.Context) error {
	title := s.course.read().Policy.Title
	if title == "" {
		title = "the course"
	}
	if err := s.app.print("serving %s on %s\n", title, s.listen.address); err != nil {
		return err
	}
	first, err := s.door.First(ctx)
	if err != nil || !first {
		return err
	}
	login, err := s.instructor(ctx)
	if err != nil {
		return err
	}
	secret, err := site.Invite(ctx, s.door, login, people.Admin)
	if err != nil {
		return err
	}
	return s.app.print("sign in as %s (admin), once, within 14 days: %s\n", login, site.LinkOf(s.listen.address, secret))
}

// instructor is the login of the first link: the first admin of the roster, or a person
// who is in no roster.
func (s *serving) instructor(ctx context.Context) (string, error) {
	all, err := s.door.People(ctx)
	for _, p := range all {
		if p.Role == people.Admin {
			return p.Login, nil
		}
	}
	return "instructor", err
}

// stopTime is how long open requests have to end.
const stopTime = 5 * time.Second

// serve answers until the context ends.
func (s *serving) serve(ctx context.Context) error {
	hung, stop := hangUp() // before a request is answered
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	server := site.Server(s.site.Handler(), s.log)
	server.BaseContext = s.listen.base(ctx) // streams end with it
	group.Go(func() error {
		if err := server.Serve(s.listen.listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve pages: %w", err)
		}
		return nil
	})
	group.Go(func() error { return s.control.serve(ctx) })
	group.Go(func() error { return s.course.follow(ctx, hung) })
	if s.workers != nil {
		group.Go(func() error { return s.workers.run(ctx) })
	}
	group.Go(func() error {
		<-ctx.Done()
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if err := server.Shutdown(stopping); err != nil {
			return errors.Join(server.Close()) // slow clients are cut off
		}
		return nil
	})
	return group.Wait()
}

// close closes what was opened, the last first.
func (s *serving) close() error {
	var errs []error
	if s.control != nil {
		errs = append(errs, s.control.close())
	}
	if s.listen != nil {
		errs = append(errs, s.listen.close())
	}
	if s.engine != nil {
		errs = append(errs, s.engine.Close())
	}
	return errors.Join(errs...)
}

// The buckets of what people and pages keep.
const (
	bucketPeople = "people"
	bucketSite   = "site"
)

// openDoor opens the door of a service.
func openDoor(ctx context.Context, e *engine.Engine, now func() time.Time) (*people.Door, error) {
	keep, err := e.KV(ctx, bucketPeople)
	if err != nil {
		return nil, err
	}
	return people.Open(ctx, keep, now)
}

// hangUp is closed each time that the process is asked to read the course anew.
func hangUp() (signals chan os.Signal, stop func()) {
	signals = make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}

// controlName is the socket that commands on this machine speak to a running service by.
func controlName(data string) string { return filepath.Join(data, "control.sock") }
