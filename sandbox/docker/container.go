package docker

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"grade/sandbox"
)

// seccompProfile allows what the Go runtime, the Go toolchain and the
// supervisor call, and nothing else: an engine's own profile is looser, and
// older ones still allow io_uring.
//
//go:embed seccomp.json
var seccompProfile string

const (
	supervisorPath = "/supervisor"
	nobody         = 65534 // the user that programs run as
	goRoot         = "/usr/local/go"
	goCache        = goRoot + "/pkg/gocache" // below it, so that one volume holds both

	// overhead is what a box needs beside what its Spec grants: the supervisor
	// and the files placed in the work directory, which live in memory.
	overhead = 128 << 20
	workSize = 96 << 20
)

// hardened is the configuration of a container that runs what others wrote.
func (e *Engine) hardened(s sandbox.Spec) (*container.Config, *container.HostConfig) {
	image, args := e.images.run.name(), []string{"-uid", fmt.Sprint(nobody)}
	if s.Purpose == sandbox.Build {
		image = e.images.build.name()
		args = append(args, "-goroot", goRoot, "-gocache", goCache)
	}
	memory := s.Memory + s.Scratch + overhead
	pids := int64(s.Pids)
	host := &container.HostConfig{
		NetworkMode:    network.NetworkNone,
		IpcMode:        container.IPCModeNone,
		CgroupnsMode:   e.cgroupNamespace(),
		ReadonlyRootfs: true,
		AutoRemove:     true,
		LogConfig:      container.LogConfig{Type: "none"},
		CapDrop:        []string{"ALL"},
		// The supervisor gives up its own user for a program's, and ends it.
		CapAdd:      []string{"SETUID", "SETGID", "KILL"},
		SecurityOpt: []string{"no-new-privileges", "seccomp=" + seccompProfile},
		Runtime:     e.config.Runtime,
		Tmpfs: map[string]string{
			"/work":    fmt.Sprintf("rw,exec,nosuid,nodev,mode=0755,size=%d,nr_inodes=%d", workSize, inodes(s.Purpose)),
			"/scratch": fmt.Sprintf("rw,noexec,nosuid,nodev,mode=1777,size=%d,nr_inodes=%d", s.Scratch, inodes(s.Purpose)),
			// Every container has one, and any user can leave files in it.
			"/dev/mqueue": "ro,noexec,nosuid,nodev,size=4k",
		},
		Resources: container.Resources{
			Memory: memory, MemorySwap: memory, PidsLimit: &pids, CpusetCpus: cpuset(s.CPUs),
			Ulimits: []*container.Ulimit{{Name: "core"}, {Name: "nofile", Soft: 4096, Hard: 4096}},
		},
	}
	return e.command(image, args), host
}

// cpuset lists CPUs as the kernel reads them.
func cpuset(cpus []int) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(cpus), "[]")), ",")
}

// command is the part that says what runs.
func (e *Engine) command(image string, args []string) *container.Config {
	return &container.Config{
		Image:      image,
		Entrypoint: append([]string{supervisorPath}, args...),
		Cmd:        []string{},
		User:       "0:0",
		Hostname:   "sandbox",
		// The runtime's empty network namespace is all it gets. Without this the
		// engine puts one of its own there, by two more processes for each container.
		NetworkDisabled: true,
		// A toolchain's image may bring one, which would run beside a program.
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		Labels:      map[string]string{ownerLabel: e.owner},
		OpenStdin:   true, StdinOnce: true,
		AttachStdin: true, AttachStdout: true, AttachStderr: true,
	}
}

// cgroupNamespace hides the machine's tree from a box. Version 1 shows a box no
// more than its own directories.
func (e *Engine) cgroupNamespace() container.CgroupnsMode {
	if e.info.CgroupVersion == "2" {
		return container.CgroupnsModePrivate
	}
	return container.CgroupnsModeEmpty
}

// inodes is how many files and directories a box's tmpfs may hold: even an empty
// one takes memory that no size limit counts, and time to remove. A build makes
// some hundreds, the workshop of the build image some thousands.
func inodes(p sandbox.Purpose) int {
	if p == sandbox.Build {
		return 64 << 10
	}
	return 4 << 10
}
