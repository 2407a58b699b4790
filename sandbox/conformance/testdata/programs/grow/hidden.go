package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// unmapped lists system calls that package syscall lacks.
var unmapped = map[string]map[string]uintptr{
	"amd64": {"memfd_create": 319, "userfaultfd": 323},
	"arm64": {"memfd_create": 279, "userfaultfd": 282},
}

// try prints the kernel's answer to every way of asking for memory that the resident
// size does not show.
func try() {
	said := map[string]int{}
	call := func(name string, nr uintptr, args ...uintptr) {
		var a [6]uintptr
		copy(a[:], args)
		_, _, errno := syscall.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
		said[name] = int(errno)
	}
	const size, rw, nowhere = 4096, syscall.PROT_READ | syscall.PROT_WRITE, ^uintptr(0)
	path := uintptr(unsafe.Pointer(syscall.StringBytePtr("x")))
	call("mmap shared", syscall.SYS_MMAP, 0, size, rw, syscall.MAP_SHARED|syscall.MAP_ANON, nowhere)
	call("mmap shared, validated", syscall.SYS_MMAP, 0, size, rw, 3|syscall.MAP_ANON, nowhere)
	call("mmap droppable", syscall.SYS_MMAP, 0, size, rw, 8|syscall.MAP_ANON, nowhere)
	call("mmap of huge pages", syscall.SYS_MMAP, 0, 2<<20, rw, 0x40000|syscall.MAP_PRIVATE|syscall.MAP_ANON, nowhere)
	call("mremap", syscall.SYS_MREMAP, path&^(size-1), 0, size, 1)
	call("shmget", syscall.SYS_SHMGET, 0, size, 0o1600)
	call("socket", syscall.SYS_SOCKET, syscall.AF_UNIX, syscall.SOCK_STREAM)
	var pair [2]int32
	call("socketpair", syscall.SYS_SOCKETPAIR, syscall.AF_UNIX, syscall.SOCK_STREAM, 0, uintptr(unsafe.Pointer(&pair)))
	call("vmsplice", syscall.SYS_VMSPLICE, 1, path, 0, 0)
	call("tee", syscall.SYS_TEE, 0, 1, 1, 0)
	call("a large pipe", syscall.SYS_FCNTL, 1, 1031, 1<<20)
	lock := syscall.Flock_t{Type: syscall.F_RDLCK, Len: 1}
	call("a lock", syscall.SYS_FCNTL, 0, syscall.F_SETLK, uintptr(unsafe.Pointer(&lock)))
	call("flock", syscall.SYS_FLOCK, 0, syscall.LOCK_SH)
	call("timer_create", syscall.SYS_TIMER_CREATE, 0, 0, uintptr(unsafe.Pointer(new(int))))
	call("inotify_init1", syscall.SYS_INOTIFY_INIT1, 0)
	call("splice", syscall.SYS_SPLICE, 0, 0, 1, 0, 1, 0)
	call("msgget", syscall.SYS_MSGGET, 0, 0o1600)
	for name, nr := range unmapped[runtime.GOARCH] {
		call(name, nr, path, 0)
	}
	json.NewEncoder(os.Stdout).Encode(said)
}

// pipes holds MiB in the buffers of pipes, and asks for a mark.
func pipes(mib int) {
	block := make([]byte, 64<<10)
	for left := mib << 20; left > 0; {
		var fds [2]int
		if err := syscall.Pipe2(fds[:], syscall.O_NONBLOCK); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		for n := 1; n > 0; left -= max(n, 0) {
			n, _ = syscall.Write(fds[1], block)
		}
	}
	ask, answer := os.NewFile(4, "mark"), os.NewFile(5, "answer")
	ask.Write([]byte{0})
	answer.Read(block[:1])
}
