//go:build linux

package main

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What once let a program hold memory unseen, leave its account or reach another process, and
// what is of that kind.
func TestRefusedCalls(t *testing.T) {
	const refuse, pid = seccompErrno | uint32(syscall.EPERM), 1000
	f := singleProcess(machine, pid)
	for name, nr := range map[string]uint32{
		"fork": syscall.SYS_FORK, "vfork": syscall.SYS_VFORK, "sched_setaffinity": syscall.SYS_SCHED_SETAFFINITY, "setpriority": syscall.SYS_SETPRIORITY,
		"tkill": syscall.SYS_TKILL, "rt_sigqueueinfo": syscall.SYS_RT_SIGQUEUEINFO, "rt_tgsigqueueinfo": syscall.SYS_RT_TGSIGQUEUEINFO, "pidfd_send_signal": 424, "pidfd_open": 434,
		"ptrace": syscall.SYS_PTRACE, "process_vm_readv": 310, "process_vm_writev": 311, "process_madvise": 440,
		"mremap": syscall.SYS_MREMAP, "remap_file_pages": syscall.SYS_REMAP_FILE_PAGES, "mlock": syscall.SYS_MLOCK, "userfaultfd": 323,
		"shmget": syscall.SYS_SHMGET, "msgget": syscall.SYS_MSGGET, "semget": syscall.SYS_SEMGET, "mq_open": syscall.SYS_MQ_OPEN, "memfd_create": 319, "memfd_secret": 447,
		"tee": syscall.SYS_TEE, "vmsplice": syscall.SYS_VMSPLICE, "splice": syscall.SYS_SPLICE, "socket": syscall.SYS_SOCKET, "socketpair": syscall.SYS_SOCKETPAIR,
		"flock": syscall.SYS_FLOCK, "timer_create": syscall.SYS_TIMER_CREATE, "timerfd_create": syscall.SYS_TIMERFD_CREATE, "setitimer": syscall.SYS_SETITIMER,
		"inotify_init1": syscall.SYS_INOTIFY_INIT1, "inotify_add_watch": syscall.SYS_INOTIFY_ADD_WATCH, "fanotify_init": 300, "signalfd4": syscall.SYS_SIGNALFD4,
		"io_setup": syscall.SYS_IO_SETUP, "io_uring_setup": 425, "add_key": syscall.SYS_ADD_KEY, "keyctl": syscall.SYS_KEYCTL, "bpf": 321, "perf_event_open": syscall.SYS_PERF_EVENT_OPEN,
		"seccomp": 317, "landlock_create_ruleset": 444,
		"setxattr": syscall.SYS_SETXATTR, "fsetxattr": syscall.SYS_FSETXATTR, "fallocate": syscall.SYS_FALLOCATE,
		"unshare": syscall.SYS_UNSHARE, "setns": 308, "mount": syscall.SYS_MOUNT, "chroot": syscall.SYS_CHROOT, "setuid": syscall.SYS_SETUID, "setrlimit": syscall.SYS_SETRLIMIT,
	} {
		got, err := apply(f, call{nr: nr, arch: machine.arch, args: [6]uint64{pid, pid}})
		require.NoError(t, err, name)
		assert.Equal(t, refuse, got, name)
	}
}
