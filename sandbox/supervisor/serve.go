//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"grade/sandbox"
)

// poll is the interval at which the watchdog samples a program's clock and size. A
// program that allocates as fast as the machine can overshoots by tens of megabytes
// in it, and the sampling costs well under a percent.
const poll = 10 * time.Millisecond

// treePoll samples a program's descendants too in every treePoll-th interval, where
// no control group counts them, because that reads all of /proc.
const treePoll = 10

// statusMax limits the error text of launch, in bytes.
const statusMax = 4 << 10

// serveOne runs the program of one request until it and all that it started have
// ended. The outcome says what the program did; an error is the supervisor's.
func (s *supervisor) serveOne(q sandbox.Request, gone <-chan struct{}) (sandbox.Outcome, error) {
	if q.Path == "" {
		return sandbox.Outcome{}, nil
	}
	if l := q.Limits; l.Wall <= 0 || l.CPU <= 0 || l.Idle < 0 || l.Stdout < 0 || l.Stderr < 0 || l.Observations < 0 || l.Memory < 0 {
		return sandbox.Outcome{}, fmt.Errorf("limits out of range: %+v", l)
	}
	s.shrink()
	before, own := s.gauges.read(), ownCPU()
	p, err := s.start(q)
	if err != nil {
		return sandbox.Outcome{}, err
	}
	defer func() { s.spent = s.clean() }() // after a fault too: the box serves on
	o, err := p.finish(gone)
	after, own := s.gauges.read(), ownCPU()-own
	fill(&o, before, after, own)
	if err == nil && machineFull(before, after) {
		err = errMachineFull
	}
	if err != nil {
		return sandbox.Outcome{}, err
	}
	o.Files = s.collect(q)
	return o, nil
}

// program is a running program.
type program struct {
	process *os.Process
	limits  sandbox.Limits
	tree    bool // its descendants count, and no control group counts them
	dump    bool // it is asked where it is when its time is over
	rest    rest
	queue   queue // watch's own
	stall   stall // likewise
	started time.Time
	begun   atomic.Pointer[time.Time] // nil: launch has not become the program yet
	done    chan struct{}             // closed when the process has ended

	stdout, stderr, observe *capture
	status                  *capture // error text of launch
	marks                   *marker
	readers                 sync.WaitGroup

	statm   figures      // its size
	scratch func() int64 // bytes of memory in its scratch directory
	box     func() int64 // bytes charged to the box since the start
	spent   func() (cpu time.Duration, ok bool)

	mu    sync.Mutex
	cause sandbox.Cause
	peak  int64 // sampled
	cpu   time.Duration
}

// start launches q's program with its pipes connected. After an error nothing is
// left running or open.
func (s *supervisor) start(q sandbox.Request) (*program, error) {
	path := q.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.dirs.Work, path)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	p := &program{
		limits: q.Limits, tree: q.Forks && s.gauges.version == "", dump: q.Dump, done: make(chan struct{}),
		scratch: tmpfsGrowth(s.dirs.Scratch), box: func() int64 { return 0 },
	}
	p.spent = func() (time.Duration, bool) {
		cpu, err := cpuTime(p.process.Pid)
		return cpu, err == nil
	}
	switch {
	case !q.Forks:
		p.box = s.gauges.growth()
	case !p.tree: // a build's box holds the files that it reads, and other processes
		p.spent = s.gauges.spending()
	}
	theirs := []*os.File{null}
	defer func() { closeAll(theirs) }()
	if err := p.connect(&theirs); err != nil {
		p.closeFiles()
		return nil, err
	}
	processes := "single"
	if q.Forks {
		processes = "many"
	}
	args := append([]string{s.self, "launch", strconv.Itoa(len(theirs) - 1), processes, fmt.Sprint(s.fileSize), path}, q.Args...)
	p.started = time.Now()
	p.queue.looked = p.started
	p.process, err = os.StartProcess(s.self, args, &os.ProcAttr{
		Dir: s.dirs.Work, Env: append([]string{}, q.Env...), Files: theirs, Sys: s.attributes(), // a nil Env would pass on the supervisor's
	})
	if err != nil {
		p.closeFiles()
		return nil, fmt.Errorf("start: %w", err)
	}
	p.statm = openFigures(statm(p.process.Pid))
	return p, nil
}

// connect makes the pipes and appends the program's ends to theirs, in the order
// of their descriptors.
func (p *program) connect(theirs *[]*os.File) error {
	var err error
	if p.stdout, err = newCapture(p.limits.Stdout, theirs); err != nil {
		return err
	}
	if p.stderr, err = newCapture(p.limits.Stderr, theirs); err != nil {
		return err
	}
	if p.limits.Observations > 0 {
		if p.observe, err = newCapture(p.limits.Observations, theirs); err != nil {
			return err
		}
		if p.marks, err = newMarker(theirs); err != nil {
			return err
		}
	}
	p.status, err = newCapture(statusMax, theirs)
	return err
}

func (p *program) closeFiles() {
	p.statm.close()
	for _, c := range []*capture{p.stdout, p.stderr, p.observe, p.status} {
		if c != nil {
			c.r.Close()
		}
	}
	if p.marks != nil {
		p.marks.close()
	}
}

// finish watches the program until it and all its descendants are dead.
func (p *program) finish(gone <-chan struct{}) (sandbox.Outcome, error) {
	p.listen()
	go p.watch(gone)
	state, err := p.process.Wait()
	wall := time.Since(p.started)
	close(p.done)
	killAll()
	p.readers.Wait()
	p.closeFiles()
	if err != nil {
		return sandbox.Outcome{}, fmt.Errorf("wait: %w", err)
	}
	return p.outcome(state, wall)
}

// listen starts a reader on every pipe.
func (p *program) listen() {
	for c, cause := range map[*capture]sandbox.Cause{
		p.stdout: sandbox.CauseStdout, p.stderr: sandbox.CauseStderr, p.observe: sandbox.CauseObservations,
	} {
		if c != nil {
			p.readers.Go(func() { c.drain(func() { p.kill(cause) }) })
		}
	}
	p.readers.Go(func() {
		p.status.drain(func() {}) // it ends where launch becomes the program
		now := time.Now()
		p.begun.Store(&now)
	})
	if p.marks != nil {
		p.readers.Go(func() { p.marks.answer(p.process.Pid, p.started, p.held) })
	}
}

// watch kills the program when it exceeds a limit or when the caller is gone.
func (p *program) watch(gone <-chan struct{}) {
	wall := time.NewTimer(p.limits.Wall - time.Since(p.started))
	defer wall.Stop()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	p.stall.look(time.Now())
	for looks := 0; ; {
		select {
		case <-p.done:
			return
		case <-gone:
			p.kill(sandbox.CauseNone)
			gone = nil
		case <-wall.C:
			if left := p.left(); left > 0 {
				wall.Reset(left)
			} else {
				p.expire(sandbox.CauseWall)
			}
		case <-tick.C:
			p.stall.look(time.Now())
			p.sample()
			if looks++; looks%queuePoll == 0 {
				p.lookAtQueue()
			}
			if p.tree && looks%treePoll == 0 {
				p.sampleTree()
			}
		}
	}
}

// sample reads the program's clock and size from outside.
func (p *program) sample() {
	if cpu, ok := p.spent(); ok {
		p.charge(cpu)
		p.idle(cpu)
	}
	size, err := p.held()
	if err != nil {
		return
	}
	if p.limits.Memory > 0 && size > p.limits.Memory {
		p.kill(sandbox.CauseMemory)
	}
}

// boxSlack is what the kernel may charge to a box for a program that hides nothing, in
// bytes: page tables, the stacks of threads, pages set aside for each CPU.
const boxSlack = 4 << 20

// held returns the memory that the program holds, wherever it lies: its resident size
// and its scratch space, where that is a tmpfs, or what the box's account has grown by,
// if that is surely more. The largest look backs the kernel's peak, which knows the
// resident size alone, and which a process can reset for itself.
func (p *program) held() (int64, error) {
	size, err := p.resident()
	if err != nil {
		return 0, err
	}
	size += p.scratch()
	if all := p.box(); all > size+boxSlack {
		size = all
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.peak = max(p.peak, size)
	return size, nil
}

// charge enforces the limit on CPU time.
func (p *program) charge(cpu time.Duration) {
	p.mu.Lock()
	p.cpu = max(p.cpu, cpu)
	p.mu.Unlock()
	if cpu >= p.limits.CPU {
		p.expire(sandbox.CauseCPU)
	}
}

// sampleTree enforces the limits on the program and its descendants together.
func (p *program) sampleTree() {
	var held int64
	var cpu time.Duration
	for _, r := range family(p.process.Pid) {
		size, _ := resident(r.pid) // it may have ended
		held += size
		cpu += r.cpu
	}
	p.charge(cpu)
	if p.limits.Memory > 0 && held > p.limits.Memory {
		p.kill(sandbox.CauseMemory)
	}
}

// kill kills the program and records the first cause.
func (p *program) kill(cause sandbox.Cause) {
	p.blame(cause)
	_ = p.process.Kill() // it may have ended by itself just now
}

// blame records the first cause, and reports whether it was this one.
func (p *program) blame(cause sandbox.Cause) (first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first = p.cause == sandbox.CauseNone; first {
		p.cause = cause
	}
	return first
}

func (p *program) outcome(state *os.ProcessState, wall time.Duration) (sandbox.Outcome, error) {
	status, ok := state.Sys().(syscall.WaitStatus)
	usage, ok2 := state.SysUsage().(*syscall.Rusage)
	if !ok || !ok2 {
		return sandbox.Outcome{}, errors.New("the kernel did not say how the program ended")
	}
	p.mu.Lock() // the watchdog may be in its last round
	defer p.mu.Unlock()
	o := sandbox.Outcome{
		Cause: p.cause, Wall: wall,
		CPU:  max(time.Duration(usage.Utime.Nano()+usage.Stime.Nano()), p.cpu),
		Peak: max(usage.Maxrss<<10, p.peak), PeakSource: sandbox.SourceRusage,
		Stdout: p.stdout.data, StdoutCut: p.stdout.cut,
		Stderr: p.stderr.data, StderrCut: p.stderr.cut,
	}
	if status.Signaled() {
		o.Signal = int(status.Signal())
	} else {
		o.ExitCode = status.ExitStatus()
	}
	if len(p.status.data) > 0 {
		return sandbox.Outcome{}, fmt.Errorf("launch: %q", p.status.data)
	}
	if p.observe != nil {
		o.Observations, o.ObserveCut = p.observe.data, p.observe.cut
		o.Marks = p.marks.marks
	}
	if p.cause == sandbox.CauseMemory {
		o.OOMKills, o.OOMSource = 1, sandbox.SourceWatchdog
	}
	return o, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
