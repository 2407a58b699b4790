package docker

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"grade/sandbox"
)

// seccompProfile allows only the system calls of the Go runtime, the Go toolchain
// and the supervisor. The profile of an engine is looser, and older engines still
// allow io_uring.
//
//go:embed seccomp.json
var seccompProfile string

const (
	supervisorPath = "/supervisor"
	goRoot         = "/usr/local/go"
	goCache        = goRoot + "/pkg/gocache" // below it, so that one volume holds both

	// overhead is the memory that a box needs beyond its Spec, in bytes: for the
	// supervisor, and for the files in the work directory, which is a tmpfs.
	overhead = 128 << 20
	workSize = 96 << 20
)

// hardened returns the configuration of a container for untrusted programs.
func (e *Engine) hardened(s sandbox.Spec) (*container.Config, *container.HostConfig) {
	image, args := e.images.of(s.Purpose).name(), []string{"-uid", fmt.Sprint(e.users.next())}
	if s.Purpose.Builds() {
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
		// The supervisor starts programs as another user, and kills them.
		CapAdd:      []string{"SETUID", "SETGID", "KILL"},
		SecurityOpt: []string{"no-new-privileges", "seccomp=" + seccompProfile},
		Runtime:     e.config.Runtime,
		Tmpfs: map[string]string{
			"/work":    fmt.Sprintf("rw,exec,nosuid,nodev,mode=0755,size=%d,nr_inodes=%d", workSize, inodes(s.Purpose)),
			"/scratch": fmt.Sprintf("rw,noexec,nosuid,nodev,mode=1777,size=%d,nr_inodes=%d", s.Scratch, inodes(s.Purpose)),
			// Every container has this directory, and any user could leave files in it.
			"/dev/mqueue": "ro,noexec,nosuid,nodev,size=4k",
		},
		Resources: container.Resources{
			Memory: memory, MemorySwap: memory, PidsLimit: &pids, CpusetCpus: cpuset(s.CPUs),
			Ulimits: []*container.Ulimit{{Name: "core"}, {Name: "nofile", Soft: 4096, Hard: 4096}},
		},
	}
	return e.command(image, args), host
}

// cpuset formats a list of CPUs for the kernel.
func cpuset(cpus []int) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(cpus), "[]")), ",")
}

// command returns the part of the configuration that says what runs.
func (e *Engine) command(image string, args []string) *container.Config {
	return &container.Config{
		Image:      image,
		Entrypoint: append([]string{supervisorPath}, args...),
		Cmd:        []string{},
		User:       "0:0",
		Hostname:   "sandbox",
		// The container gets the runtime's empty network namespace. Without this
		// setting the engine makes another one, with two more processes a container.
		NetworkDisabled: true,
		// A toolchain's image may have one, which would run beside a program.
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		Labels:      map[string]string{OwnerLabel: e.owner},
		OpenStdin:   true, StdinOnce: true,
		AttachStdin: true, AttachStdout: true, AttachStderr: true,
	}
}

// cgroupNamespace hides the machine's control groups from a box. Version 1 shows a
// box only its own directories anyway.
func (e *Engine) cgroupNamespace() container.CgroupnsMode {
	if e.info.CgroupVersion == "2" {
		return container.CgroupnsModePrivate
	}
	return container.CgroupnsModeEmpty
}

// inodes limits the files and directories in a box's tmpfs: even an empty file
// takes memory that no size limit counts, and time to remove. A build makes some
// hundreds, filling the build image's cache some thousands.
func inodes(p sandbox.Purpose) int {
	if p.Builds() {
		return 64 << 10
	}
	return 4 << 10
}
