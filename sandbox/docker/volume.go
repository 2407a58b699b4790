package docker

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"

	"grade/sandbox"
)

// All build boxes read the toolchain and its cache from one read-only volume. Under
// some storage drivers (fuse-overlayfs, vfs) files in an image's layers are read
// from disk again for every box, which took more than half of the time of a build.
//
// The engine fills an empty volume from the image's directory at the same path.
// Each volume has a unique name, a label of the image holds it, and the image gets
// its tag only when the volume is full, so that no box sees a half-filled volume.
const (
	volumePrefix = "grade-toolchain-"
	// volumeLabel marks grade's volumes, and names the volume on a build image.
	volumeLabel = "grade.toolchain"
)

// hasWithVolume returns a function that reports whether the engine has a build image and
// its volume, and stores the volume's name with the image.
func (e *Engine) hasWithVolume(m *madeImage) func(context.Context, string) (bool, error) {
	return func(ctx context.Context, tag string) (bool, error) {
		volume, err := e.volumeOf(ctx, tag)
		m.volume.set(volume)
		return volume != "", err
	}
}

// volumeOf returns the name of a build image's volume; "" if one of both is missing.
func (e *Engine) volumeOf(ctx context.Context, tag string) (string, error) {
	made, err := asked(ctx, func(ctx context.Context) (image.InspectResponse, error) { return e.client.ImageInspect(ctx, tag) })
	if errdefs.IsNotFound(err) || err == nil && made.Config == nil {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	name := made.Config.Labels[volumeLabel]
	if name == "" {
		return "", nil
	}
	_, err = asked(ctx, func(ctx context.Context) (volume.Volume, error) { return e.client.VolumeInspect(ctx, name) })
	if errdefs.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return name, nil
}

// fillVolume has the engine copy an image's toolchain into a new volume, by creating
// a container that never starts, and tags the image with a label that names the
// volume. It stores the volume's name in m.
func (e *Engine) fillVolume(ctx context.Context, m *madeImage, from, tag string) (err error) {
	e.config.Progress("copying the toolchain into a volume", 0, 0)
	name := volumePrefix + rand.Text()
	if _, err := e.client.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: map[string]string{volumeLabel: ""}}); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			e.closing.Go(func() { e.removeVolume(name) })
		}
	}()
	_, host := e.hardened(sandbox.Spec{Purpose: sandbox.Build, Memory: warmMemory, Scratch: warmScratch, Pids: warmPids})
	host.Mounts = toolchainAt(name, false)
	// Where SELinux is on, the copies are labelled as this container is: here for all to read.
	host.SecurityOpt = append(host.SecurityOpt, "label=level:s0")
	id, err := e.create(ctx, e.command(from, nil), host)
	if err != nil {
		return err
	}
	b := &box{engine: e, id: id}
	defer b.remove()
	if _, err = e.client.ContainerCommit(ctx, id, container.CommitOptions{
		Reference: tag, Changes: []string{"LABEL " + OwnerLabel + "= " + volumeLabel + "=" + name},
	}); err != nil {
		return err
	}
	m.volume.set(name)
	return nil
}

func toolchainAt(volume string, readOnly bool) []mount.Mount {
	return []mount.Mount{{Type: mount.TypeVolume, Source: volume, Target: goRoot, ReadOnly: readOnly}}
}

func (e *Engine) removeVolume(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = e.client.VolumeRemove(ctx, name, false)
}

// pruneVolumes removes grade's volumes that no build image names. The engine refuses
// to remove one in use.
func (e *Engine) pruneVolumes(ctx context.Context) {
	list, err := e.client.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(filters.Arg("label", volumeLabel))})
	images, err2 := e.client.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", volumeLabel))})
	if errors.Join(err, err2) != nil {
		return // an old volume does no harm
	}
	named := map[string]bool{}
	for _, i := range images {
		if len(i.RepoTags) > 0 {
			named[i.Labels[volumeLabel]] = true
		}
	}
	for _, v := range list.Volumes {
		if !named[v.Name] {
			_ = e.client.VolumeRemove(ctx, v.Name, false)
		}
	}
}
