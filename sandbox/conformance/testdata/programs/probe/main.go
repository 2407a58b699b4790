// Command probe tries to break out of an official sandbox and prints, as JSON, what
// it could write, read or call.
package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

type report struct {
	Writable []string       // paths that could be opened for writing or created
	Readable []string       // paths of secrets that could be read
	Mounts   []string       // target, type and options
	Links    []string       // network interfaces
	Calls    map[string]int // errno of each system call
	Sockets  []string       // sockets and devices in the file system
}

func main() {
	r := report{Calls: calls(), Mounts: mounts(), Links: links(), Sockets: special()}
	for _, name := range []string{
		"/", "/work", "/etc", "/tmp", "/run", "/var/tmp", "/dev", "/dev/shm", "/dev/mqueue", "/dev/pts", "/proc", "/sys", "/proc/sys/kernel", "/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/usr", "/gocache", "/usr/local/go/src",
	} {
		if f, err := os.CreateTemp(name, "probe-"); err == nil {
			r.Writable = append(r.Writable, name)
			f.Close()
		}
	}
	for _, name := range []string{
		"/supervisor", "/proc/1/mem", "/proc/1/oom_score_adj", "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches",
		"/proc/sys/kernel/hostname", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.peak",
		"/sys/fs/cgroup/memory/release_agent", "/sys/fs/cgroup/memory/notify_on_release", "/sys/kernel/mm/transparent_hugepage/enabled",
		"/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/kvm", "/dev/tty", "/dev/console",
	} {
		if f, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil {
			r.Writable = append(r.Writable, name)
			f.Close()
		}
	}
	for _, name := range []string{
		"/proc/1/environ", "/proc/1/mem", "/proc/1/maps", "/proc/1/fd/0", "/proc/1/fd/1", "/proc/1/exe", "/proc/1/root/work", "/proc/1/cwd/work",
		"/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/sys/firmware/dmi", "/dev/kmsg",
		"/var/run/docker.sock", "/run/docker.sock", "/root", "/home",
	} {
		if b := make([]byte, 1); readable(name, b) {
			r.Readable = append(r.Readable, name)
		}
	}
	json.NewEncoder(os.Stdout).Encode(r)
}

// readable reports whether a path has any content to read.
func readable(name string, b []byte) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	if n, err := f.Read(b); n > 0 || err == nil {
		return true
	}
	list, _ := f.Readdirnames(1)
	return len(list) > 0
}

func mounts() (list []string) {
	b, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 3 {
			list = append(list, f[1]+" "+f[2]+" "+f[3])
		}
	}
	return list
}

func links() (list []string) {
	b, _ := os.ReadFile("/proc/net/dev")
	for line := range strings.Lines(string(b)) {
		if name, _, ok := strings.Cut(line, ":"); ok {
			list = append(list, strings.TrimSpace(name))
		}
	}
	return list
}

// special lists the sockets and devices of a box.
func special() (list []string) {
	_ = filepath.WalkDir("/", func(name string, d os.DirEntry, err error) error {
		if name == "/proc" || name == "/sys" {
			return filepath.SkipDir
		}
		if err == nil && d.Type()&(os.ModeSocket|os.ModeDevice) != 0 {
			list = append(list, name)
		}
		return nil
	})
	return list
}

func calls() map[string]int {
	said := map[string]int{}
	call := func(name string, nr, a, b, c uintptr) {
		_, _, errno := syscall.RawSyscall6(nr, a, b, c, 0, 0, 0)
		said[name] = int(errno)
	}
	var room [256]byte
	p := uintptr(unsafe.Pointer(&room))
	path := uintptr(unsafe.Pointer(syscall.StringBytePtr("/")))
	for name, family := range map[string]uintptr{"unix": 1, "inet": 2, "inet6": 10, "netlink": 16, "packet": 17, "alg": 38, "vsock": 40, "xdp": 44} {
		call("socket "+name, syscall.SYS_SOCKET, family, syscall.SOCK_STREAM, 0)
	}
	call("connect", syscall.SYS_CONNECT, 0, p, 16)
	call("unshare user", syscall.SYS_UNSHARE, syscall.CLONE_NEWUSER, 0, 0)
	call("unshare net", syscall.SYS_UNSHARE, syscall.CLONE_NEWNET, 0, 0)
	call("mount", syscall.SYS_MOUNT, path, path, path)
	call("pivot_root", syscall.SYS_PIVOT_ROOT, path, path, 0)
	call("chroot", syscall.SYS_CHROOT, path, 0, 0)
	call("ptrace", syscall.SYS_PTRACE, 16, 1, 0)
	call("keyctl", syscall.SYS_KEYCTL, 0, 0, 0)
	call("add_key", syscall.SYS_ADD_KEY, path, path, 0)
	call("request_key", syscall.SYS_REQUEST_KEY, path, path, 0)
	call("perf_event_open", syscall.SYS_PERF_EVENT_OPEN, p, 0, 0)
	call("init_module", syscall.SYS_INIT_MODULE, p, 1, path)
	call("kexec_load", syscall.SYS_KEXEC_LOAD, 0, 0, 0)
	call("reboot", syscall.SYS_REBOOT, 0, 0, 0)
	call("swapon", syscall.SYS_SWAPON, path, 0, 0)
	call("sethostname", syscall.SYS_SETHOSTNAME, path, 1, 0)
	call("settimeofday", syscall.SYS_SETTIMEOFDAY, p, 0, 0)
	call("personality", syscall.SYS_PERSONALITY, 0xffffffff, 0, 0)
	call("setuid 0", syscall.SYS_SETUID, 0, 0, 0)
	call("setgid 0", syscall.SYS_SETGID, 0, 0, 0)
	call("io_uring_setup", 425, 8, p, 0) // these are numbered alike everywhere
	call("open_tree", 428, path, path, 0)
	call("fsopen", 430, path, 0, 0)
	call("pidfd_getfd", 438, 3, 0, 0)
	for name, nr := range byMachine[runtime.GOARCH] {
		call(name, nr, path, path, 0)
	}
	return said
}

// byMachine lists system calls that package syscall lacks.
var byMachine = map[string]map[string]uintptr{
	"amd64": {
		"bpf": 321, "userfaultfd": 323, "memfd_create": 319, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
		"open_by_handle_at": 304, "name_to_handle_at": 303, "kcmp": 312, "finit_module": 313, "fanotify_init": 300,
	},
	"arm64": {
		"bpf": 280, "userfaultfd": 282, "memfd_create": 279, "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271,
		"open_by_handle_at": 265, "name_to_handle_at": 264, "kcmp": 272, "finit_module": 273, "fanotify_init": 262,
	},
}
