//go:build linux

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// reservedThreads is how many threads we keep: more than we ever need at once.
const reservedThreads = 12

// startThreads makes the runtime start its threads while it may. A program can
// use up the box's allowance of them, and a runtime that is refused a thread
// ends its process.
func startThreads() {
	ready, release := make(chan struct{}), make(chan struct{})
	for range reservedThreads {
		go func() {
			runtime.LockOSThread() // a thread of its own, as long as all are held
			defer runtime.UnlockOSThread()
			ready <- struct{}{}
			<-release
		}()
	}
	for range reservedThreads {
		<-ready
	}
	close(release)
}

// attributes are those of a process that is not ours to trust: a session of its
// own, so that it has no terminal and can be killed as a group, and an end that
// comes with ours.
func (s *supervisor) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if s.uid >= 0 {
		a.Credential = &syscall.Credential{Uid: uint32(s.uid), Gid: uint32(s.uid), Groups: []uint32{}}
	}
	return a
}

// killAll ends every process but us and reaps it. As process 1 one call reaches
// all of them, so nothing can fork itself out of the way. Elsewhere orphans
// become our children, and we end what descends from us until nothing does.
func killAll() {
	if os.Getpid() == 1 {
		_ = syscall.Kill(-1, syscall.SIGKILL)
		for reap(0) == nil {
		}
		return
	}
	for wait := time.Millisecond; ; {
		err := reap(syscall.WNOHANG)
		if err == nil {
			continue
		}
		if !errors.Is(err, errNotYet) {
			return
		}
		for _, pid := range descendants(os.Getpid()) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(wait)
		wait = min(2*wait, 50*time.Millisecond)
	}
}

var errNotYet = errors.New("no child has ended yet")

// reap waits for any child. The kernel's word that there is none is the only
// one to trust: every list of processes is old when it is read.
func reap(options int) error {
	for {
		pid, err := syscall.Wait4(-1, nil, options, nil)
		if err == nil && pid == 0 {
			return errNotYet
		}
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// descendants lists the children of a process, their children and so on.
func descendants(root int) []int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	children := map[int][]int{}
	for _, name := range stats {
		if pid, parent, ok := parentOf(name); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	list := slices.Clone(children[root])
	for i := 0; i < len(list); i++ {
		list = append(list, children[list[i]]...)
	}
	return list
}

// parentOf reads a /proc/PID/stat. The name in it, in parentheses, is whatever
// the process wants.
func parentOf(name string) (pid, parent int, ok bool) {
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, 0, false
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 2 {
		return 0, 0, false
	}
	pid, err = strconv.Atoi(filepath.Base(filepath.Dir(name)))
	parent, err2 := strconv.Atoi(fields[1])
	return pid, parent, err == nil && err2 == nil
}
