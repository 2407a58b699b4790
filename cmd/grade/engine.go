package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"grade"
	"grade/exercises/course"
	"grade/grader"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/sandbox/docker"
	"grade/sandbox/toolchain"
	"grade/service/engine"
)

// engineFlags say where the engine of a service is.
type engineFlags struct {
	nats, creds string
	service     string
	systemCreds string
	listen      string
	patience    time.Duration
	visit       bool        // it leaves the queue as it is
	tls         *tls.Config // of listen
}

// addCluster adds the flags by which a command reaches an engine.
func (f *engineFlags) addCluster(cmd *cobra.Command, what string) {
	flags := cmd.Flags()
	flags.StringVar(&f.nats, "nats", "", what+"; by default the one in GRADE_NATS, which no list of processes shows")
	f.nats = os.Getenv("GRADE_NATS") // no default of the flag, which help would print with its password
	flags.StringVar(&f.creds, "creds", "", "sign in to the NATS cluster with this `FILE` of credentials")
	flags.StringVar(&f.service, "service", "course", "the `NAME` of the service, where a cluster has several")
	_ = cmd.MarkFlagFilename("creds", "creds")
	for _, flag := range []string{"nats", "service"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
}

// add adds the flags of a service.
func (f *engineFlags) add(cmd *cobra.Command) {
	f.addCluster(cmd, "keep everything in the NATS cluster at this `URL`, not in a server in this process")
	flags := cmd.Flags()
	flags.StringVar(&f.systemCreds, "nats-system-creds", "", "look with this `FILE` of credentials of the cluster's system account whether it syncs to its disks")
	flags.StringVar(&f.listen, "worker-listen", "", "let grade work connect on this `ADDRESS`, such as 0.0.0.0:4222; by default no machine can")
	flags.DurationVar(&f.patience, "worker-timeout", engine.DefaultAckWait, "give the jobs of a worker that is silent for so long to another one")
	_ = cmd.MarkFlagFilename("nats-system-creds", "creds")
	for _, flag := range []string{"worker-listen", "worker-timeout"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
}

func (f *engineFlags) check(h httpFlags) error {
	host, _, err := net.SplitHostPort(f.listen)
	if f.listen != "" && err == nil && !isLoopback(host) && !h.tls() && !h.plain {
		return usage("give --tls-cert and --tls-key, or --autocert HOST; or --plain-http in a network of your own", "--worker-listen %s: without TLS, hidden tests could be read on the network", f.listen)
	}
	if f.nats != "" && f.listen != "" {
		return usage("workers connect to the cluster: grade work --nats URL", "--worker-listen is for the server in this process, and --nats is another one")
	}
	if f.nats == "" && (f.creds != "" || f.systemCreds != "") {
		return usage("", "--creds and --nats-system-creds are for a cluster: give --nats URL too")
	}
	if f.patience < time.Second {
		return usage("", "--worker-timeout %v: want at least 1s", f.patience)
	}
	return nil
}

// graderID names which graders may grade a job: those of the same deciding sources and Go.
func graderID() (string, error) {
	sources, err := results.SourceDigest(grade.Deciding)
	return sources + " " + runtime.Version(), err
}

// openServiceEngine opens the engine of a service.
func openServiceEngine(ctx context.Context, data string, f engineFlags, log *slog.Logger, now func() time.Time) (*engine.Engine, error) {
	id, err := graderID()
	if err != nil {
		return nil, err
	}
	return engine.Open(ctx, engine.Config{
		Course: f.service, DataDir: data, Listen: f.listen, TLS: f.tls, NATS: f.nats, Creds: f.creds, SystemCreds: f.systemCreds, AckWait: f.patience,
		Grader: id, Visit: f.visit, Log: log, Now: now,
	})
}

// bench is a grader in a sandbox, as workers use one.
type bench struct {
	*grader.Grader
	identity string
	setup    string
	sandbox  sandboxFlags
	done     func() error
}

// openBench opens a grader for a worker.
func openBench(ctx context.Context, s sandboxFlags) (*bench, error) {
	g, done, err := openGrader(ctx, s)
	if err != nil {
		return nil, err
	}
	b := &bench{Grader: g, sandbox: s, done: done}
	if err := b.describe(ctx); err != nil {
		return nil, errors.Join(err, done())
	}
	return b, nil
}

// describe says in what two machines can differ, so that a submission gets other points on one
// of them: in full, see [identity], and to people.
func (b *bench) describe(ctx context.Context) error {
	info, err := b.Prepare(ctx)
	if err != nil {
		return err
	}
	if b.identity, err = identity(info); err != nil {
		return err
	}
	here, err := toolchain.Find(ctx)
	if err != nil {
		return err
	}
	races := "race checks"
	if !toolchain.HasCompiler() {
		races = "no race checks, for want of a C compiler"
	}
	b.setup = fmt.Sprintf("%s, %s, %s", cmp.Or(b.sandbox.BuildImage, here.Version), info.Runtime, races)
	return nil
}

// Grade grades a snapshot and tells each event.
func (b *bench) Grade(ctx context.Context, s *submission.Snapshot, e *course.Exercise, seed string, tell func(grader.Event)) (*verdict.Result, error) {
	return b.Grader.Grade(ctx, s, e, grader.Options{Purpose: grader.ForBatch, Seed: seed, OnEvent: tell})
}

// Identity is what else decides a result.
func (b *bench) Identity() string { return b.identity }

// Setup says what the machine compiles and runs with.
func (b *bench) Setup() string { return b.setup }

// checkTimeout bounds a look at the engine: one that hangs does not work either.
const checkTimeout = 15 * time.Second

// Check returns an error if the Docker engine does not answer. It opens a connection of its
// own, because what is open has what it needs in memory and would not notice.
func (b *bench) Check(ctx context.Context) error {
	if b.sandbox.Kind != sandboxDocker {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	e, err := docker.Open(ctx, docker.Config{Sources: grade.Sources, Runtime: b.sandbox.Runtime})
	if err != nil {
		return err
	}
	return e.Close()
}

// Close closes the grader and its sandbox.
func (b *bench) Close() error { return b.done() }
