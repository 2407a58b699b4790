//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"grade/sandbox"
)

// left returns how much wall time the program has left, from the moment it took over from
// launch. The time for which it was ready to run and others had the CPUs is the machine's,
// and not counted: a program that is not given any time is no slower than another.
func (p *program) left() time.Duration {
	limit := p.limits.Wall
	begun := p.begun.Load()
	if begun == nil { // it is one of ours that is slow
		return min(limit, sandbox.Patience*limit-time.Since(p.started))
	}
	return limit + min(queued(p.process.Pid), (sandbox.Patience-1)*limit) - time.Since(*begun)
}

// queued returns for how long the threads of a process have waited for a CPU, all together;
// 0 where the kernel does not say. A thread that has ended is not counted.
func queued(pid int) (sum time.Duration) {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, name := range names {
		b, _ := os.ReadFile(name) // of a thread: time on a CPU, time in a queue for one, turns
		if fields := bytes.Fields(b); len(fields) > 1 {
			ns, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			sum += time.Duration(ns)
		}
	}
	return sum
}
