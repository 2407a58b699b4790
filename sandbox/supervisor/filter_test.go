//go:build linux

package main

import (
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// call holds what the kernel shows a filter (struct seccomp_data).
type call struct {
	nr, arch uint32
	args     [6]uint64
}

func (c call) word(offset uint32) uint32 {
	switch offset {
	case 0:
		return c.nr
	case 4:
		return c.arch
	}
	arg := c.args[(offset-16)/8]
	if offset%8 == 4 {
		return uint32(arg >> 32)
	}
	return uint32(arg)
}

// apply runs a filter as the kernel does.
func apply(f []instruction, c call) (uint32, error) {
	var acc uint32
	for pc := 0; pc < len(f); pc++ {
		in := f[pc]
		hit := false
		switch in.code {
		case bpfLoad:
			acc = c.word(in.k)
			continue
		case bpfReturn:
			return in.k, nil
		case bpfJumpEqual:
			hit = acc == in.k
		case bpfJumpSet:
			hit = acc&in.k != 0
		default:
			return 0, fmt.Errorf("instruction %d: unknown code %#x", pc, in.code)
		}
		if hit {
			pc += int(in.jt)
		} else {
			pc += int(in.jf)
		}
	}
	return 0, fmt.Errorf("ran off the end")
}

func TestSingleProcess(t *testing.T) {
	const pid, other = 1000, 1001
	const threads = syscall.CLONE_VM | syscall.CLONE_FS | syscall.CLONE_FILES | syscall.CLONE_SIGHAND | syscall.CLONE_SYSVSEM | cloneThread
	made := calls{arch: 0xc00000b7, clone: 1220, mmap: 1222, fcntl: 1025, prctl: 1167, signal: []uint32{1129, 1131}, allowed: []uint32{1000}} // of no machine
	const allow, refuse, unknown = seccompAllow, seccompErrno | uint32(syscall.EPERM), seccompErrno | uint32(syscall.ENOSYS)
	for name, m := range map[string]calls{"this machine's": machine, "another's": made} {
		t.Run(name, func(t *testing.T) {
			f := singleProcess(m, pid)
			check := func(what string, want uint32, c call) {
				t.Helper()
				got, err := apply(f, c)
				require.NoError(t, err, what)
				assert.Equal(t, want, got, what)
			}
			for _, nr := range slices.Concat(everywhere, m.allowed) {
				check("what Go programs need", allow, call{nr: nr, arch: m.arch})
				check("the same of a foreign machine", refuse, call{nr: nr, arch: m.arch + 1})
				check("the same as an x32 call", refuse, call{nr: x32Bit | nr, arch: m.arch})
			}
			check("a new number", refuse, call{nr: 500, arch: m.arch})
			check("an x32 clone", refuse, call{nr: x32Bit | m.clone, arch: m.arch, args: [6]uint64{threads}})
			check("clone3", unknown, call{nr: sysClone3, arch: m.arch})
			check("a thread", allow, call{nr: m.clone, arch: m.arch, args: [6]uint64{threads}})
			check("a process", refuse, call{nr: m.clone, arch: m.arch, args: [6]uint64{uint64(syscall.SIGCHLD)}})
			check("a process like vfork's", refuse, call{nr: m.clone, arch: m.arch, args: [6]uint64{syscall.CLONE_VM | syscall.CLONE_VFORK}})
			check("a process with a thread's bit above", refuse, call{nr: m.clone, arch: m.arch, args: [6]uint64{cloneThread << 32}})
			for what, flags := range map[string]uint64{"shared": 0x01, "shared and validated": 0x03, "droppable": 0x08, "shared and anonymous": 0x21, "of huge pages": 0x40022} {
				check(what, refuse, call{nr: m.mmap, arch: m.arch, args: [6]uint64{3: flags}})
			}
			check("private pages", allow, call{nr: m.mmap, arch: m.arch, args: [6]uint64{0, 4096, 3, syscall.MAP_PRIVATE | syscall.MAP_ANON | syscall.MAP_FIXED}})
			for what, command := range map[string]uint64{"a larger pipe": 1031, "a lock": syscall.F_SETLK, "an open file's lock": 37, "a lease": 1024, "a signal": 10} {
				check(what, refuse, call{nr: m.fcntl, arch: m.arch, args: [6]uint64{3, command}})
			}
			check("flags of a descriptor", allow, call{nr: m.fcntl, arch: m.arch, args: [6]uint64{3, syscall.F_SETFL}})
			check("the name of a thread", allow, call{nr: m.prctl, arch: m.arch, args: [6]uint64{prSetName}})
			for what, option := range map[string]uint64{"a filter of its own": prSetSeccomp, "a name of memory": 0x53564d41, "a dump": prSetDumpable} {
				check(what, refuse, call{nr: m.prctl, arch: m.arch, args: [6]uint64{option}})
			}
			for _, nr := range m.signal {
				check("a signal to itself", allow, call{nr: nr, arch: m.arch, args: [6]uint64{pid, other}})
				check("a signal to another process", refuse, call{nr: nr, arch: m.arch, args: [6]uint64{other, pid}})
				check("a signal to its group", refuse, call{nr: nr, arch: m.arch, args: [6]uint64{0}})
				check("a signal to all processes", refuse, call{nr: nr, arch: m.arch, args: [6]uint64{^uint64(0)}})
			}
		})
	}
}

// The kernel refuses a filter that jumps past its end or does not end in a return.
func TestFilterIsWellFormed(t *testing.T) {
	f := singleProcess(machine, 1)
	for pc, in := range f {
		if in.code == bpfJumpEqual || in.code == bpfJumpSet {
			assert.Less(t, pc+1+int(max(in.jt, in.jf)), len(f), "instruction %d", pc)
		}
	}
	assert.Equal(t, uint16(bpfReturn), f[len(f)-1].code)
	assert.Less(t, len(f), 4096)
}
