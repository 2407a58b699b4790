package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"grade/service/engine"
	"grade/service/worker"
)

type workOptions struct {
	app     *app
	engine  engineFlags
	workers int
	name    string
	sandbox sandboxFlags
}

func newWork(a *app) *cobra.Command {
	o := &workOptions{app: a}
	cmd := &cobra.Command{
		Use:     "work",
		Short:   "Grade on this machine for a service",
		GroupID: groupInstructors,
		Long: `Take jobs from the service at --nats and grade them in this machine's Docker engine. It
needs connections to the service and no others to it: the course, with its hidden tests,
and what was handed in come from there, by their hashes.

The file of credentials comes from grade serve credentials. It allows a worker to take
jobs and to give results, and nothing else. The worker has to be of the same version as
grade serve: a worker of another version takes no jobs, and the page Queue says so.

While the Docker engine does not answer, it takes no jobs. SIGTERM ends it: what it has
goes back to the queue at once. After a kill -9, or when the network is cut for longer
than 20 seconds, another worker begins those jobs anew; whichever result comes first
holds.`,
		Example: `  grade serve credentials lab7 > lab7.creds      # on the machine of the service
  grade work --nats nats://grade.example.org:4222 --creds lab7.creds
  grade work --nats tls://grade.example.org:4222 --creds lab7.creds --workers 8`,
		Args:              aCommand,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.engine.addCluster(cmd, "take jobs from the service at this `URL`")
	f := cmd.Flags()
	f.IntVar(&o.workers, "workers", cpuWorkers(), "grade so many at a time; what is measured has a CPU to itself")
	f.StringVar(&o.name, "name", "", "the worker's `NAME`; by default the one that its credentials are for, or the machine's")
	_ = cmd.RegisterFlagCompletionFunc("workers", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("name", cobra.NoFileCompletions)
	o.sandbox.addFlags(cmd)
	return cmd
}

func (o *workOptions) check() error {
	if o.engine.nats == "" {
		return usage("give the address at which grade serve takes workers: --nats nats://HOST:4222", "which service?")
	}
	grading := gradingFlags{workers: o.workers, sandbox: o.sandbox}
	if err := grading.checkFor("work"); err != nil {
		return err
	}
	o.sandbox = grading.sandbox
	return nil
}

func (o *workOptions) run(ctx context.Context) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	id, err := graderID()
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	if o.name, err = o.called(host); err != nil {
		return err
	}
	log := o.app.logger(false).With("worker", o.name)
	log.Info("connecting", "to", engine.Shown(o.engine.nats))
	jobs, err := engine.Connect(ctx, engine.JobsConfig{Course: o.engine.service, URL: o.engine.nats, Creds: o.engine.creds, Grader: id, Name: o.name, Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, jobs.Close()) }()
	return o.work(ctx, jobs, host, log)
}

func (o *workOptions) work(ctx context.Context, jobs *engine.Jobs, host string, log *slog.Logger) error {
	w := worker.New(jobs, worker.Config{
		Slots: o.workers, Host: host, Version: buildVersionHere(), Log: log,
		Open: func(ctx context.Context) (worker.Bench, error) {
			b, err := openBench(ctx, o.sandbox)
			if err != nil {
				return nil, err
			}
			log.Info("ready", "slots", o.workers)
			return b, nil
		},
	})
	return w.Run(ctx)
}

// called returns the worker's name.
func (o *workOptions) called(host string) (string, error) {
	if o.engine.creds == "" {
		return cmp.Or(o.name, host), nil
	}
	data, err := os.ReadFile(o.engine.creds)
	if err != nil {
		return "", usage("make it with: grade serve credentials NAME", "read credentials: %v", err)
	}
	named, err := engine.WorkerOf(data)
	if err != nil {
		return "", usage("make it with: grade serve credentials NAME", "read credentials: %s: %v", o.engine.creds, err)
	}
	if o.name != "" && o.name != named && named != "" {
		return "", usage("leave --name out, or make credentials for that name", "--name %s: the credentials are for %s", o.name, named)
	}
	return cmp.Or(named, o.name, host), nil
}

type serveCredentialsOptions struct {
	app     *app
	data    string
	service string
	worker  string
	lasts   dayCount
}

// dayCount is a number of days; 0: without an end.
type dayCount int

func (d dayCount) duration() time.Duration { return time.Duration(d) * 24 * time.Hour }

func newServeCredentials(a *app) *cobra.Command {
	o := &serveCredentialsOptions{app: a}
	cmd := &cobra.Command{
		Use:   "credentials WORKER",
		Short: "Print credentials with which grade work connects",
		Long: `Print a file of credentials for the worker of that name: it may take jobs and give
results, and nothing else. Keep it as a password. It is for the server in the process of
grade serve, with --worker-listen; for a cluster of your own, its operator makes them.`,
		Example: `  grade serve credentials lab7 > lab7.creds
  grade serve credentials lab7 --days 180 --data /var/lib/grade > lab7.creds`,
		Args:              wantOne("name, of the worker"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			o.worker = args[0]
			return o.run()
		},
	}
	dataFlag(cmd, &o.data)
	cmd.Flags().StringVar(&o.service, "service", "course", "the `NAME` of the service")
	cmd.Flags().IntVar((*int)(&o.lasts), "days", 0, "they end after so many `DAYS`; 0: never")
	for _, flag := range []string{"service", "days"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
	return cmd
}

func (o *serveCredentialsOptions) run() error {
	if o.lasts < 0 {
		return usage("", "--days %d: want 0 or more", o.lasts)
	}
	if _, err := os.Stat(o.data); err != nil {
		return usage("start the service once, or give its folder: --data DIR", "make credentials: %v", err)
	}
	data, err := engine.WorkerCredentials(o.data, o.service, o.worker, o.lasts.duration())
	if err != nil {
		return fmt.Errorf("make credentials: %w", err)
	}
	return o.app.print("%s", data)
}
