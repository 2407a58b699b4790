//go:build linux

package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"grade/sandbox"
	"grade/sandbox/protocol"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "launch" {
		os.Exit(launch(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "wipe" {
		os.Exit(wipeAs(os.Args[2:]))
	}
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "supervisor:", err)
		os.Exit(1)
	}
}

// supervisor is the state that outlives a request.
type supervisor struct {
	*places
	uid      int   // user of the programs; -1: the supervisor's own
	fileSize int64 // limit of a file's size, in bytes; 0: none
	gauges   gauges
	footprint
	self  string // the supervisor's own executable, which launches programs
	spent error  // reason why the box cannot serve another request
}

// run serves requests until in ends.
func run(args []string, in io.Reader, out io.Writer) error {
	s, err := setup(args)
	if err != nil {
		return err
	}
	defer s.remove()
	startThreads()
	s.footprint = newFootprint()
	if err := errors.Join(closeOnExec(), confine()); err != nil {
		return err
	}
	// Docker sends TERM to process 1, a terminal INT to the whole group. The other
	// side closes the input after either, and the supervisor ends then.
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	defer killAll()

	r := bufio.NewReaderSize(in, 64<<10)
	w := bufio.NewWriterSize(out, 64<<10)
	if err := s.hello(w); err != nil {
		return err
	}
	return s.serve(r, w)
}

// serve answers messages until the input ends.
func (s *supervisor) serve(r *bufio.Reader, w *bufio.Writer) error {
	for {
		m, err := protocol.ReadMessage(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch m {
		case protocol.MsgHello:
			err = s.hello(w)
		case protocol.MsgPin:
			err = s.pin(r, w)
		case protocol.MsgRun:
			err = s.request(r, w)
		default:
			err = fmt.Errorf("unknown message %q", m)
		}
		if err != nil {
			return err
		}
	}
}

func (s *supervisor) request(r *bufio.Reader, w *bufio.Writer) error {
	q, err := protocol.ReadRequest(r, s.place)
	if err != nil {
		return err
	}
	// The caller sends nothing before it has the answer, so the input ends now only
	// if the caller is gone. The buffer allows one reader at a time: the request
	// ends when this one has seen the next message, or the end.
	gone, peeked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(peeked)
		if _, err := r.Peek(1); err != nil {
			close(gone)
		}
	}()
	outcome, fault := s.serveOne(q, gone)
	select {
	case <-gone: // the program was killed for that, so there is no outcome
		return nil
	default:
	}
	if err := errors.Join(protocol.WriteOutcome(w, outcome, fault), w.Flush()); err != nil {
		return err
	}
	if s.spent != nil {
		return s.spent // the next program needs a clean box
	}
	<-peeked
	return nil
}

func (s *supervisor) hello(w *bufio.Writer) error {
	cpus, err := allowedCPUs()
	if err != nil {
		return err
	}
	if err := protocol.WriteHello(w, protocol.Hello{Dirs: s.dirs, CPUs: cpus, Cgroup: s.gauges.version}); err != nil {
		return err
	}
	return w.Flush()
}

// pin moves the supervisor and all it starts to one CPU, where no engine does it.
func (s *supervisor) pin(r *bufio.Reader, w *bufio.Writer) error {
	cpu, err := protocol.ReadPin(r)
	if err != nil {
		return err
	}
	if err := setAffinity(cpu); err != nil {
		return fmt.Errorf("pin to CPU %d: %w", cpu, err)
	}
	return s.hello(w)
}

// setup reads the command line. In a container the directories exist; with
// -private, setup makes them in a fresh directory, which remove deletes.
func setup(args []string) (*supervisor, error) {
	s := &supervisor{}
	var dirs sandbox.Dirs
	flags := flag.NewFlagSet("supervisor", flag.ContinueOnError)
	flags.StringVar(&dirs.Work, "work", "/work", "directory of the files of a request")
	flags.StringVar(&dirs.Scratch, "scratch", "/scratch", "directory that programs may write")
	flags.StringVar(&dirs.GoRoot, "goroot", "", "toolchain, named in the hello")
	flags.StringVar(&dirs.GoCache, "gocache", "", "build cache, named in the hello")
	flags.IntVar(&s.uid, "uid", -1, "user and group of the programs; -1 for the supervisor's own")
	flags.Int64Var(&s.fileSize, "filesize", 0, "limit in `bytes` of a file that a program writes; 0 for none")
	cgroup := flags.String("cgroup", "/sys/fs/cgroup", "where control groups are mounted; empty: the box has none of its own")
	private := flags.String("private", "", "make work and scratch in a fresh directory below this one")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	var err error
	if s.self, err = os.Executable(); err != nil {
		return nil, err
	}
	s.gauges = detectGauges(*cgroup)
	if *private != "" {
		s.places, err = newPlaces(*private, dirs)
	} else {
		s.places, err = openPlaces(dirs)
	}
	return s, err
}
