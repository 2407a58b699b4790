//go:build linux

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// reservedThreads exceeds the number of threads that the supervisor ever needs at
// once.
const reservedThreads = 12

// startThreads makes the runtime start its threads early. A program can use up the
// box's limit of threads, and the runtime ends the process when the kernel refuses
// a thread.
func startThreads() {
	ready, release := make(chan struct{}), make(chan struct{})
	for range reservedThreads {
		go func() {
			runtime.LockOSThread() // so each goroutine has its own thread until release
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

// attributes returns the attributes of an untrusted process: a session of its own,
// so that it has no terminal and can be killed as a group, and death with the
// supervisor.
func (s *supervisor) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if s.uid >= 0 {
		a.Credential = &syscall.Credential{Uid: uint32(s.uid), Gid: uint32(s.uid), Groups: []uint32{}}
	}
	return a
}

// killAll kills and reaps every process but the supervisor. Process 1 reaches all
// of them with one call, which no fork can escape. Elsewhere orphans become the
// supervisor's children, and killAll repeats until it has no descendants.
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

// reap waits for any child. Only its error proves that no child is left: a list of
// processes is out of date when it is read.
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

// A relative is what /proc says of a process.
type relative struct {
	pid, parent int
	running     bool          // or ready to
	cpu         time.Duration // its own, and that of the children it has waited for
}

// descendants lists the children of a process, their children and so on.
func descendants(root int) (pids []int) {
	for _, r := range family(root)[1:] {
		pids = append(pids, r.pid)
	}
	return pids
}

// family lists a process and its descendants. The process itself comes first, even if
// it has ended.
func family(root int) []relative {
	children := map[int][]relative{}
	list := []relative{{pid: root}}
	for _, name := range inEach("/proc", "stat") {
		r, ok := readRelative(name)
		if ok && r.pid == root {
			list[0] = r
		} else if ok {
			children[r.parent] = append(children[r.parent], r)
		}
	}
	for i := 0; i < len(list); i++ {
		list = append(list, children[list[i].pid]...)
	}
	return list
}

// inEach returns the path of one file of each process, or thread, that a folder lists now.
// filepath.Glob would list the folder of each of them too, and the kernel makes up all that
// is in there.
func inEach(dir, file string) (paths []string) {
	list, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer list.Close()
	names, _ := list.Readdirnames(-1)
	for _, name := range names {
		if '0' <= name[0] && name[0] <= '9' {
			paths = append(paths, dir+"/"+name+"/"+file)
		}
	}
	return paths
}

// The fields of a /proc/PID/stat behind the process's name, which stands in
// parentheses and can be anything (proc_pid_stat(5)); times count in 1/100 s.
const (
	statState  = 0 // a letter
	statParent = 1
	statTimes  = 11 // user, system, and those of children that were waited for
	statTick   = 10 * time.Millisecond
)

func readRelative(name string) (r relative, ok bool) {
	var buf [figuresMax]byte
	b, err := glance(name, &buf)
	if err != nil {
		return r, false
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < statTimes+4 {
		return r, false
	}
	r.pid, err = strconv.Atoi(filepath.Base(filepath.Dir(name)))
	parent, err2 := strconv.Atoi(fields[statParent])
	r.parent, r.running = parent, fields[statState] == "R"
	for _, f := range fields[statTimes : statTimes+4] {
		ticks, _ := strconv.ParseInt(f, 10, 64)
		r.cpu += time.Duration(ticks) * statTick
	}
	return r, err == nil && err2 == nil
}
