package protocol

import (
	"errors"
	"fmt"
	"io"
	"time"

	"grade/sandbox"
)

// WriteOutcome answers a MsgRun. It sends fault alone, if that is not nil: the
// reason why the supervisor could not serve the request.
func WriteOutcome(w io.Writer, o sandbox.Outcome, fault error) error {
	e := encoder{w: w}
	if fault != nil {
		e.str(fault.Error()[:min(len(fault.Error()), maxString)])
		return e.flush()
	}
	e.str("")
	for _, v := range numbers(&o) {
		e.int(v.get())
	}
	e.bool(o.StdoutCut)
	e.bool(o.StderrCut)
	e.bool(o.ObserveCut)
	e.int(int64(len(o.Marks)))
	for _, m := range o.Marks {
		e.int(int64(m.CPU))
		e.int(int64(m.Wall))
		e.int(m.Memory)
	}
	e.bytes(o.Stdout)
	e.bytes(o.Stderr)
	e.bytes(o.Observations)
	e.int(int64(len(o.Files)))
	for _, f := range o.Files {
		e.str(f.Name)
		e.bool(f.Exec)
		e.bytes(f.Data)
	}
	return e.flush()
}

// Fault is a supervisor's reason for not serving a request.
type Fault struct{ Text string }

func (f *Fault) Error() string { return fmt.Sprintf("supervisor: %q", f.Text) }

// readOutcome reads the answer to q. It returns a *Fault if the supervisor could
// not serve q.
func readOutcome(r io.Reader, q sandbox.Request) (sandbox.Outcome, error) {
	d := decoder{r: r}
	if fault := d.str(); d.err == nil && fault != "" {
		return sandbox.Outcome{}, &Fault{fault}
	}
	var o sandbox.Outcome
	for _, v := range numbers(&o) {
		v.set(d.int())
	}
	o.StdoutCut, o.StderrCut, o.ObserveCut = d.bool(), d.bool(), d.bool()
	for range d.count(sandbox.MaxMarks) {
		o.Marks = append(o.Marks, sandbox.Mark{CPU: time.Duration(d.int()), Wall: time.Duration(d.int()), Memory: d.int()})
	}
	o.Stdout = d.bytes(q.Limits.Stdout)
	o.Stderr = d.bytes(q.Limits.Stderr)
	o.Observations = d.bytes(q.Limits.Observations)
	asked := map[string]bool{}
	for _, name := range q.Collect {
		asked[name] = true
	}
	for range d.count(int64(len(q.Collect))) {
		f := sandbox.File{Name: d.str(), Exec: d.bool(), Data: d.bytes(q.Limits.CollectMax)}
		if d.err == nil && !asked[f.Name] {
			return sandbox.Outcome{}, fmt.Errorf("supervisor sent the file %q, which was not requested", f.Name)
		}
		delete(asked, f.Name)
		o.Files = append(o.Files, f)
	}
	if err := errors.Join(d.err, check(o)); err != nil {
		return sandbox.Outcome{}, err
	}
	return o, nil
}

// The largest exit status and signal that wait4 reports.
const (
	maxStatus = 255
	maxSignal = 64
)

// check refuses figures that no working supervisor sends.
func check(o sandbox.Outcome) error {
	if !o.Cause.Valid() {
		return fmt.Errorf("supervisor sent the unknown cause %d", o.Cause)
	}
	for _, s := range []sandbox.Source{o.BoxCPUSource, o.PeakSource, o.BoxPeakSource, o.OOMSource, o.PidsSource} {
		if !s.Valid() {
			return fmt.Errorf("supervisor sent the unknown source %d", s)
		}
	}
	for _, v := range numbers(&o) {
		if v.get() < 0 {
			return errors.New("supervisor sent a negative figure")
		}
	}
	if o.ExitCode > maxStatus || o.Signal > maxSignal {
		return fmt.Errorf("supervisor sent status %d, signal %d, want at most %d and %d", o.ExitCode, o.Signal, maxStatus, maxSignal)
	}
	var last sandbox.Mark
	for _, m := range o.Marks {
		if m.CPU < last.CPU || m.Wall < last.Wall || m.Memory < 0 {
			return errors.New("supervisor sent marks out of order")
		}
		last = m
	}
	return nil
}

// number is one numeric field of an Outcome.
type number struct {
	get func() int64
	set func(int64)
}

func field[T ~int | ~int64](p *T) number {
	return number{get: func() int64 { return int64(*p) }, set: func(v int64) { *p = T(v) }}
}

// numbers lists the numeric fields in the order in which they travel.
func numbers(o *sandbox.Outcome) []number {
	return []number{
		field(&o.ExitCode), field(&o.Signal), field(&o.Cause),
		field(&o.Wall), field(&o.CPU), field(&o.BoxCPU), field(&o.BoxCPUSource),
		field(&o.Peak), field(&o.PeakSource), field(&o.BoxPeak), field(&o.BoxPeakSource),
		field(&o.OOMKills), field(&o.OOMSource), field(&o.PidsHit), field(&o.PidsSource),
	}
}
