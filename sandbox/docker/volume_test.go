package docker

import (
	"testing"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/volume"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
	"grade/sandbox/conformance"
)

// A build box reads the toolchain from a volume that it cannot write.
func TestToolchainVolume(t *testing.T) {
	e := engine(t)
	spec := conformance.Spec()
	spec.Purpose = sandbox.Build
	b := open(t, e, spec)
	got, err := e.client.ContainerInspect(t.Context(), b.id)
	require.NoError(t, err)
	require.Len(t, got.Mounts, 1)
	assert.Equal(t, e.images.build.volume.get(), got.Mounts[0].Name)
	assert.Equal(t, goRoot, got.Mounts[0].Destination)
	assert.False(t, got.Mounts[0].RW)
}

// After a volume is deleted, the next grade fills a new one, and removes a volume
// that no image names. The test has an image of its own, because other tests build
// with the real one at the same time.
func TestVolumeIsRemade(t *testing.T) {
	version := sandbox.Request{Path: goRoot + "/bin/go", Args: []string{"version"}, Forks: true, Limits: conformance.Limits()}
	config := Config{Sources: otherSources(t), Warm: sandbox.Warm{
		Key: t.Name(), Requests: func(sandbox.Dirs) ([]sandbox.Request, error) { return []sandbox.Request{version}, nil },
	}}
	one, err := Open(t.Context(), config)
	conformance.Need(t, err)
	require.NoError(t, one.Prepare(t.Context(), sandbox.Build))
	lost := one.images.build.volume.get()
	one.settle()
	require.NoError(t, one.client.VolumeRemove(t.Context(), lost, false))
	stray, err := one.client.VolumeCreate(t.Context(), volume.CreateOptions{Labels: map[string]string{volumeLabel: ""}})
	require.NoError(t, err)
	require.NoError(t, one.Close())

	two, err := Open(t.Context(), config)
	require.NoError(t, err)
	spec := conformance.Spec()
	spec.Purpose = sandbox.Build
	b, err := two.Box(t.Context(), spec)
	require.NoError(t, err)
	assert.NotEqual(t, lost, two.images.build.volume.get())
	assert.Equal(t, one.Info().Build, two.Info().Build)
	o, err := b.Run(t.Context(), version)
	require.NoError(t, err)
	assert.Contains(t, string(o.Stdout), "go version", "stderr: %s", o.Stderr)
	_, err = two.client.VolumeInspect(t.Context(), stray.Name)
	assert.True(t, errdefs.IsNotFound(err), "%v", err)

	require.NoError(t, b.Close())
	two.settle()
	_, err = two.client.ImageRemove(t.Context(), two.Info().Build, image.RemoveOptions{PruneChildren: true})
	require.NoError(t, err)
	two.removeVolume(two.images.build.volume.get())
	require.NoError(t, two.Close())
}
