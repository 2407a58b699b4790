// Command fork starts other processes, or tries to.
package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

func main() {
	switch os.Args[1] {
	case "try":
		try()
	case "daemons": // orphans, each in a session of its own
		n, _ := strconv.Atoi(os.Args[2])
		var pids []string
		for range n {
			out, err := child("middle").Output()
			if err != nil {
				panic(err)
			}
			pids = append(pids, string(out))
		}
		os.Stdout.WriteString(strings.Join(pids, " "))
	case "middle", "middle-and-stay":
		c := child("end")
		if err := c.Start(); err != nil {
			panic(err)
		}
		os.Stdout.WriteString(strconv.Itoa(c.Process.Pid))
		if os.Args[1] == "middle-and-stay" {
			time.Sleep(time.Hour)
		}
	case "storm":
		storm()
	case "hold": // a child keeps the output open and outlives its parent
		c := child("end")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Start(); err != nil {
			panic(err)
		}
	case "wait": // for a child that never ends
		if err := child("spin").Run(); err != nil {
			panic(err)
		}
	case "spin":
		for {
		}
	case "end":
		time.Sleep(time.Hour)
	}
}

// storm makes every process start others for ever. It stays below Go's
// runtime, which ends a process that gets no thread where there are too many.
func storm() {
	for {
		pid, _, errno := syscall.RawSyscall(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0)
		if errno == 0 && pid == 0 {
			syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
		}
	}
}

func child(arg string) *exec.Cmd {
	c := exec.Command("/proc/self/exe", arg)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return c
}

// try prints the kernel's answer to every way of starting a process, and of
// changing the CPUs.
func try() {
	said := map[string]int{}
	call := func(name string, nr, a, b, c uintptr) {
		pid, _, errno := syscall.RawSyscall(nr, a, b, c)
		if errno == 0 && pid == 0 && name != "sched_setaffinity" { // in the child
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
		said[name] = int(errno)
	}
	for name, nr := range forks {
		call(name, nr, 0, 0, 0)
	}
	call("clone", syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0)
	args := [8]uint64{4: uint64(syscall.SIGCHLD)}
	call("clone3", 435, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	mask := [128]byte{0: 0xff}
	call("sched_setaffinity", syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
	said["exec"] = 0
	if err := child("middle").Run(); err != nil {
		said["exec"] = -1
	}
	json.NewEncoder(os.Stdout).Encode(said)
}
