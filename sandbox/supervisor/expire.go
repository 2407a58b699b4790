//go:build linux

package main

import (
	"fmt"
	"syscall"
	"time"

	"grade/sandbox"
)

// idleShare is the part of its limit on idleness for which a program may compute, or wait for
// a CPU, and still count as idle: a runtime looks around now and then.
const idleShare = 50

// rest is what is known of a program that has been idle until now.
type rest struct {
	looked  time.Time
	lasts   time.Duration
	cpu     time.Duration // that it had spent at the beginning
	starved time.Duration // that it had waited for a CPU by then
}

// idle enforces the limit on idleness. The rest lasts for the looks of this watchdog that
// were on time: while it does not run, others may not be able to either.
func (p *program) idle(cpu time.Duration) {
	now := time.Now()
	slack := p.limits.Idle / idleShare
	switch r := &p.rest; {
	case slack == 0, p.begun.Load() == nil:
	case r.looked.IsZero(), cpu-r.cpu > slack:
		*r = rest{looked: now, cpu: cpu, starved: p.queue.starved}
	default:
		r.lasts += min(now.Sub(r.looked), 2*poll)
		r.looked = now
		if r.lasts < p.limits.Idle {
			return
		}
		p.lookAtQueue()
		if p.queue.starved-r.starved > slack {
			*r = rest{}
			return
		}
		p.expire(sandbox.CauseIdle)
	}
}

// lastWords is the time that a program has to say where it is: on a busy machine it waits for a
// CPU first.
const lastWords = 3 * time.Second

// expire ends a program whose time is over. It may ignore that it is asked to quit, or be
// unable to answer.
func (p *program) expire(cause sandbox.Cause) {
	if !p.dump || p.begun.Load() == nil {
		p.kill(cause)
		return
	}
	if !p.blame(cause) {
		return
	}
	pid := p.process.Pid
	_ = syscall.Tgkill(pid, atWork(pid), syscall.SIGQUIT) // it may have ended by itself just now
	time.AfterFunc(lastWords, func() { _ = p.process.Kill() })
}

// atWork returns the thread that has computed most among those that compute now; the first
// one if none does.
func atWork(pid int) int {
	var most time.Duration
	busiest := pid
	for _, name := range inEach(fmt.Sprintf("/proc/%d/task", pid), "stat") {
		r, ok := readRelative(name)
		if ok && r.running && r.cpu >= most {
			most, busiest = r.cpu, r.pid
		}
	}
	return busiest
}
