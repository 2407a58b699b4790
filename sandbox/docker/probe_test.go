package docker

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
	"grade/sandbox/conformance"
)

// probed holds the output of the program probe.
type probed struct {
	Writable, Readable, Mounts, Links, Sockets []string
	Calls                                      map[string]syscall.Errno
}

// TestProbe tries the isolation from inside, as a program's user, without and with
// the right to start processes.
func TestProbe(t *testing.T) {
	e := engine(t)
	for name, purpose := range map[string]sandbox.Purpose{"run": sandbox.Run, "build": sandbox.Build} {
		t.Run(name, func(t *testing.T) {
			s := suite(t, e)
			spec := conformance.Spec()
			spec.Purpose = purpose
			b := open(t, e, spec)
			q := conformance.Request("probe")
			q.Forks = purpose == sandbox.Build
			var p probed
			s.RunJSON(t, b, q, &p)
			assert.Empty(t, p.Writable)
			assert.Empty(t, p.Readable)
			assert.Equal(t, []string{"lo"}, p.Links)
			assertCalls(t, p.Calls)
			assertMounts(t, p.Mounts)
			assertDevices(t, p.Sockets)
			assertRights(t, s.Look(t, b))
		})
	}
}

func assertCalls(t *testing.T, calls map[string]syscall.Errno) {
	t.Helper()
	require.Greater(t, len(calls), 40)
	for name, errno := range calls {
		assert.Equal(t, syscall.EPERM, errno, name)
	}
}

func assertMounts(t *testing.T, mounts []string) {
	t.Helper()
	require.NotEmpty(t, mounts)
	for _, m := range mounts {
		f := strings.Fields(m)
		options := strings.Split(f[2], ",")
		switch target := f[0]; {
		case target == "/work":
			assert.Equal(t, "tmpfs", f[1])
			assert.Subset(t, options, []string{"rw", "nosuid", "nodev"})
		case target == "/scratch":
			assert.Equal(t, "tmpfs", f[1])
			assert.Subset(t, options, []string{"rw", "nosuid", "nodev", "noexec"})
		case target == "/proc" || strings.HasPrefix(target, "/dev") || strings.HasPrefix(target, "/proc/") && f[1] == "tmpfs",
			target == "/sys/fs/cgroup" && f[1] == "tmpfs": // version 1: the directory of the read-only mounts
			// The probe has tried to write to these.
		default:
			assert.Contains(t, options, "ro", m)
		}
		assert.NotContains(t, f[1], "9p")
		assert.NotContains(t, f[1], "virtiofs")
	}
}

// assertDevices allows only the devices that every container has.
func assertDevices(t *testing.T, names []string) {
	t.Helper()
	for _, name := range names {
		base := strings.TrimPrefix(name, "/dev/")
		assert.True(t, slices.Contains([]string{"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts/ptmx", "console"}, base), name)
	}
}

func assertRights(t *testing.T, seen conformance.Seen) {
	t.Helper()
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
		assert.Equal(t, "0000000000000000", seen.Status[set], set)
	}
	assert.Equal(t, "1", seen.Status["NoNewPrivs"])
	assert.Equal(t, "2", seen.Status["Seccomp"])
	assert.GreaterOrEqual(t, seen.UID, firstUser)
	user := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%d\t", seen.UID), 4), "\t")
	assert.Equal(t, user, seen.Status["Uid"])
	assert.Equal(t, user, seen.Status["Gid"])
	assert.Len(t, seen.Processes, 2)
}

// TestInspect reads the container's configuration back from the engine.
func TestInspect(t *testing.T) {
	t.Setenv("GRADE_CANARY", "canary-of-the-host")
	e := engine(t)
	spec := conformance.Spec()
	b := open(t, e, spec)
	got, err := e.client.ContainerInspect(t.Context(), b.id)
	require.NoError(t, err)
	h := got.HostConfig
	assert.Empty(t, h.Binds)
	assert.Empty(t, h.Mounts)
	assert.Empty(t, h.VolumesFrom)
	assert.Empty(t, got.Config.Volumes)
	assert.Empty(t, h.Devices)
	assert.Empty(t, h.PortBindings)
	assert.Empty(t, h.Links)
	assert.Empty(t, h.GroupAdd)
	assert.False(t, h.Privileged)
	assert.False(t, h.PublishAllPorts)
	assert.True(t, h.ReadonlyRootfs)
	assert.True(t, h.AutoRemove)
	assert.Equal(t, "none", h.LogConfig.Type)
	assert.Equal(t, "none", string(h.NetworkMode))
	assert.True(t, got.Config.NetworkDisabled)
	assert.Equal(t, "none", string(h.IpcMode))
	assert.Empty(t, h.PidMode)
	assert.Empty(t, h.UTSMode)
	assert.Empty(t, h.UsernsMode)
	assert.Equal(t, []string{"ALL"}, []string(h.CapDrop))
	assert.ElementsMatch(t, []string{"CAP_SETUID", "CAP_SETGID", "CAP_KILL"}, h.CapAdd)
	assert.Equal(t, "no-new-privileges", h.SecurityOpt[0])
	assert.Equal(t, spec.Memory+spec.Scratch+overhead, h.Memory)
	assert.Equal(t, h.Memory, h.MemorySwap)
	assert.Equal(t, int64(spec.Pids), *h.PidsLimit)
	assert.Equal(t, map[string]string{OwnerLabel: e.owner}, got.Config.Labels)
	assert.NotContains(t, strings.Join(got.Config.Env, " "), "canary")
	require.Len(t, got.Config.Entrypoint, 3)
	assert.Equal(t, []string{supervisorPath, "-uid"}, []string(got.Config.Entrypoint[:2]))
	user, err := strconv.Atoi(got.Config.Entrypoint[2])
	require.NoError(t, err)
	assert.GreaterOrEqual(t, user, firstUser)
	assert.Less(t, user, firstUser+numUsers)
	assert.False(t, got.Config.Tty)
}

// TestExport checks that a container for programs holds only the supervisor.
func TestExport(t *testing.T) {
	e := engine(t)
	b := open(t, e, conformance.Spec())
	s := suite(t, e)
	s.Run(t, b, conformance.Request("end", "exit", "0"))
	r, err := e.client.ContainerExport(t.Context(), b.id)
	require.NoError(t, err)
	defer r.Close()
	var held []string
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if h.Typeflag == tar.TypeReg && h.Size > 0 {
			held = append(held, h.Name)
		}
	}
	assert.Equal(t, []string{"supervisor"}, held)
}

// TestPinByEngine reads the pinned CPU back from the engine; the conformance suite
// reads it from inside.
func TestPinByEngine(t *testing.T) {
	e := engine(t)
	b := open(t, e, conformance.Spec())
	require.NoError(t, b.Pin(t.Context(), b.CPUs()[0]))
	got, err := e.client.ContainerInspect(t.Context(), b.id)
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprint(b.CPUs()[0]), got.HostConfig.CpusetCpus)
}

// A confined box uses only its CPUs, and can be moved to another one for measuring.
func TestConfined(t *testing.T) {
	e := engine(t)
	all := open(t, e, conformance.Spec()).CPUs()
	spec := conformance.Spec()
	spec.CPUs = all[:1]
	b := open(t, e, spec)
	assert.Equal(t, all[:1], b.CPUs())
	last := all[len(all)-1]
	require.NoError(t, b.Pin(t.Context(), last))
	assert.Equal(t, []int{last}, b.CPUs())
}
