//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"grade/sandbox"
)

// left returns how much wall time the program has left, from the moment it took over from
// launch. The time for which it was ready to run and others had the CPUs is the machine's,
// and not counted: a program that is not given any time is no slower than another. Nor is the
// time for which the whole machine stood still, which no queue shows.
func (p *program) left() time.Duration {
	limit := p.limits.Wall
	begun := p.begun.Load()
	if begun == nil { // it is one of ours that is slow
		return min(limit, sandbox.Patience*limit-time.Since(p.started))
	}
	p.stall.look(time.Now())
	p.lookAtQueue()
	return limit + min(p.queue.starved+p.stall.stood, (sandbox.Patience-1)*limit) - time.Since(*begun)
}

func (p *program) lookAtQueue() { p.queue.look(p.process.Pid, time.Now(), p.stall.stood) }

// stall is for how long the watchdog came late: while it does not run, others may not be able
// to either.
type stall struct {
	stood  time.Duration
	looked time.Time
}

func (s *stall) look(now time.Time) {
	if !s.looked.IsZero() {
		s.stood += max(0, now.Sub(s.looked)-2*poll)
	}
	s.looked = now
}

// queuePoll is the number of intervals of the watchdog between two looks at a queue.
const queuePoll = 10

// turns are what the kernel tells of a thread.
type turns struct{ cpu, queued time.Duration }

// late is how long after a wait the kernel may tell of it: it counts a wait when it ends. A
// longer one counts as far as the process has not computed since the look before.
const late = time.Second

// queue is what a program has waited for a CPU that others had.
type queue struct {
	starved time.Duration
	owed    time.Duration // waits that no idle time has answered to yet
	room    time.Duration // wall time beyond the process's CPU time, likewise
	looked  time.Time
	stood   time.Duration // for how long the watchdog had come late by then
	cpu     time.Duration // of the whole process, likewise
	threads map[int]turns // likewise
}

// look adds what the program has waited for since the last look: the wait of the thread
// that has waited longest, less all that other threads of its own have computed meanwhile,
// and no more than the wall time beyond the CPU time of all and the time for which the watchdog
// came late, which counts already. Threads that wake each other, or spin
// beside each other, would else be given time for standing in each other's way.
func (q *queue) look(pid int, now time.Time, stood time.Duration) {
	total, err := cpuTime(pid)
	threads := threadsOf(pid)
	if err != nil || len(threads) == 0 {
		return
	}
	if !q.looked.IsZero() {
		q.add(waited(q.threads, threads, total-q.cpu), now.Sub(q.looked)-(total-q.cpu)-(stood-q.stood))
	}
	q.looked, q.stood, q.cpu, q.threads = now, stood, total, threads
}

func (q *queue) add(owed, room time.Duration) {
	q.owed, q.room = q.owed+owed, q.room+max(room, 0)
	both := min(q.owed, q.room)
	q.starved += both
	q.owed, q.room = min(q.owed-both, late), min(q.room-both, late)
}

// waited is what a process whose threads have computed so much together has waited for others.
func waited(before, now map[int]turns, cpu time.Duration) (longest time.Duration) {
	for id, t := range now {
		own, queued := t.cpu-before[id].cpu, t.queued-before[id].queued
		longest = max(longest, queued-max(cpu-own, 0))
	}
	return longest
}

// threadsOf returns the threads of a process; none where the kernel does not say.
func threadsOf(pid int) map[int]turns {
	list := map[int]turns{}
	var buf [figuresMax]byte
	for _, name := range inEach(fmt.Sprintf("/proc/%d/task", pid), "schedstat") {
		b, _ := glance(name, &buf) // time on a CPU, time in a queue for one, turns
		cpu, _ := parse(word(b, 0))
		queued, ok := parse(word(b, 1))
		if id, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); ok && err == nil {
			list[id] = turns{time.Duration(cpu), time.Duration(queued)}
		}
	}
	return list
}
