package docker

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/gofrs/flock"

	"grade/sandbox"
	"grade/sandbox/toolchain"
)

// images holds the images of boxes. Each is made without waiting for the other,
// and its name can be read meanwhile.
type images struct {
	run, build, raceRun, raceBuild madeImage
}

// of returns the image of boxes of a purpose.
func (i *images) of(p sandbox.Purpose) *madeImage {
	switch p {
	case sandbox.Build:
		return &i.build
	case sandbox.RaceBuild:
		return &i.raceBuild
	case sandbox.RaceRun:
		return &i.raceRun
	}
	return &i.run
}

// name is a name that can be read while it is set.
type name struct{ p atomic.Pointer[string] }

func (n *name) set(to string) { n.p.Store(&to) }

func (n *name) get() string {
	if p := n.p.Load(); p != nil {
		return *p
	}
	return ""
}

// madeImage is an image that is made at most once. Its name has a hash of
// everything that goes into it, so that it is made again only after a change.
type madeImage struct {
	making sync.Mutex
	tag    name
	volume name // holds the toolchain of an image for builds; set before tag
}

// name returns the image's name, which is empty until the image exists.
func (m *madeImage) name() string { return m.tag.get() }

// forget has the next prepare look whether the engine still has the image.
func (m *madeImage) forget() { m.tag.set("") }

func (m *madeImage) prepare(ctx context.Context, makeImage func(context.Context) (string, error)) error {
	m.making.Lock()
	defer m.making.Unlock()
	if m.name() != "" {
		return nil
	}
	tag, err := makeImage(ctx)
	if err != nil {
		return fmt.Errorf("make a sandbox image: %w", err)
	}
	m.tag.set(tag)
	return nil
}

// Names of the images, before the colon.
const (
	runRepository   = "grade-run"
	rootRepository  = "grade-goroot"
	buildRepository = "grade-build"
)

// Limits of the box that fills a build image's cache.
const (
	lockRetry   = 100 * time.Millisecond
	warmMemory  = 4 << 30
	warmScratch = 1 << 30
	warmPids    = 1024
)

// Prepare makes the image for a purpose, unless the engine has it.
func (e *Engine) Prepare(ctx context.Context, p sandbox.Purpose) error {
	makers := map[sandbox.Purpose]func(context.Context) (string, error){
		sandbox.Run: e.runImage, sandbox.Build: e.buildImage, sandbox.RaceRun: e.raceRunImage, sandbox.RaceBuild: e.raceBuildImage,
	}
	return e.images.of(p).prepare(ctx, makers[p])
}

// Images returns the names of both images, and for each whether the engine has it.
func (e *Engine) Images(ctx context.Context) (map[string]bool, error) {
	supervisor, err := e.supervisor(ctx)
	if err != nil {
		return nil, err
	}
	run, build, err := e.tags(ctx, supervisor)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for _, tag := range []string{run, build} {
		if have[tag], err = e.has(ctx, tag); err != nil {
			return nil, err
		}
	}
	return have, nil
}

func (e *Engine) has(ctx context.Context, tag string) (bool, error) {
	_, err := asked(ctx, func(ctx context.Context) (image.InspectResponse, error) { return e.client.ImageInspect(ctx, tag) })
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// tags derives the names of both images from what goes into them.
func (e *Engine) tags(ctx context.Context, supervisor string) (run, build string, err error) {
	program, err := os.ReadFile(supervisor)
	if err != nil {
		return "", "", err
	}
	root, err := e.rootKey(ctx)
	if err != nil {
		return "", "", err
	}
	return tag(runRepository, string(program)), tag(buildRepository, string(program), root, e.config.Warm.Key, goCache), nil
}

func tag(repository string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s", len(p), p)
	}
	return fmt.Sprintf("%s:%x", repository, h.Sum(nil)[:8])
}

// runImage makes an image with only the supervisor.
func (e *Engine) runImage(ctx context.Context) (string, error) {
	supervisor, err := e.supervisor(ctx)
	if err != nil {
		return "", err
	}
	run, _, err := e.tags(ctx, supervisor)
	if err != nil {
		return "", err
	}
	return run, e.ensure(ctx, run, e.has, func(ctx context.Context) error {
		e.config.Progress("making the image that programs run in", 0, 0)
		return e.importTar(ctx, run, func(w *tar.Writer) error { return addSupervisor(w, supervisor) })
	})
}

// ensure makes an image unless the engine has it. One process at a time makes
// images; a process that waited finds the image made.
func (e *Engine) ensure(ctx context.Context, tag string, has func(context.Context, string) (bool, error), make func(context.Context) error) error {
	if ok, err := has(ctx, tag); ok || err != nil {
		return err
	}
	dir, err := toolchain.CacheDir()
	if err != nil {
		return err
	}
	lock := flock.New(filepath.Join(dir, "images.lock"))
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return err
	}
	defer lock.Unlock()
	if ok, err := has(ctx, tag); ok || err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, imageTimeout)
	defer cancel()
	if err := again(ctx, func() error { return make(ctx) }); err != nil {
		return err
	}
	e.prune(ctx, tag)
	e.pruneVolumes(ctx)
	return nil
}

// keepImages is the number of images kept of one kind, for this grade and for other
// versions that use this engine.
const keepImages = 4

// prune removes the oldest images of tag's kind. It leaves images in use, and
// ignores errors, because an old image does no harm.
func (e *Engine) prune(ctx context.Context, tag string) {
	repository, _, _ := strings.Cut(tag, ":")
	list, err := e.client.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("reference", repository))})
	if err != nil || len(list) <= keepImages {
		return
	}
	slices.SortFunc(list, func(a, b image.Summary) int { return cmp.Compare(b.Created, a.Created) })
	for _, old := range list[keepImages:] {
		for _, name := range old.RepoTags {
			_, _ = e.client.ImageRemove(ctx, name, image.RemoveOptions{PruneChildren: true})
		}
	}
}

// importTar makes an image of one layer.
func (e *Engine) importTar(ctx context.Context, tag string, fill func(*tar.Writer) error) error {
	r, w := io.Pipe()
	go func() {
		t := tar.NewWriter(w)
		w.CloseWithError(errors.Join(fill(t), t.Close()))
	}()
	defer r.Close()
	response, err := e.client.ImageImport(ctx, image.ImportSource{Source: r, SourceName: "-"}, tag, image.ImportOptions{})
	if err != nil {
		return err
	}
	defer response.Close()
	return streamError(response)
}

// buildImage makes an image of a Go toolchain, the supervisor and a build cache,
// which is filled in this very image: the go command keys its index of packages by
// names, sizes and times of files, so a cache filled elsewhere would miss.
func (e *Engine) buildImage(ctx context.Context) (string, error) {
	supervisor, err := e.supervisor(ctx)
	if err != nil {
		return "", err
	}
	_, build, err := e.tags(ctx, supervisor)
	if err != nil {
		return "", err
	}
	return build, e.ensure(ctx, build, e.hasWithVolume(&e.images.build), func(ctx context.Context) error {
		from := build // exists if only its volume is missing
		if ok, err := e.has(ctx, build); err != nil {
			return err
		} else if !ok {
			base, err := e.baseImage(ctx)
			if err != nil {
				return err
			}
			e.config.Progress("compiling the standard library for submissions", 0, 0)
			filled := func(w *tar.Writer) error { return addSupervisor(w, supervisor) }
			if from, err = e.warm(ctx, base, e.config.Warm, filled); err != nil {
				return err
			}
		}
		return e.fillVolume(ctx, &e.images.build, from, build)
	})
}

// warm runs the builds that fill the cache, in an image with files added, and returns the
// id of an image of the result.
func (e *Engine) warm(ctx context.Context, base string, w sandbox.Warm, files func(*tar.Writer) error) (string, error) {
	b, err := e.writableBox(ctx, base, files)
	if err != nil {
		return "", err
	}
	defer b.Close()
	if err := w.Fill(ctx, b); err != nil {
		return "", err
	}
	made, err := e.client.ContainerCommit(ctx, b.id, container.CommitOptions{
		Pause: true, Changes: []string{"LABEL " + OwnerLabel + "="}, // an image has no owner
	})
	return made.ID, err
}

// writableBox starts a container in which an image is made. It runs no untrusted
// program, so its root is writable.
func (e *Engine) writableBox(ctx context.Context, base string, files func(*tar.Writer) error) (*box, error) {
	config := e.command(base, []string{"-goroot", goRoot, "-gocache", goCache})
	_, host := e.hardened(sandbox.Spec{Purpose: sandbox.Build, Memory: warmMemory, Scratch: warmScratch, Pids: warmPids})
	host.ReadonlyRootfs = false
	return e.startWith(ctx, config, host, files)
}

// addSupervisor writes the supervisor and its two directories to an archive. The
// directories need their modes, because runc gives a tmpfs the mode of the directory
// that it covers and ignores the mount's options.
func addSupervisor(w *tar.Writer, program string) error {
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	for _, h := range []tar.Header{
		{Typeflag: tar.TypeDir, Name: "work/", Mode: 0o755},
		{Typeflag: tar.TypeDir, Name: "scratch/", Mode: 0o1777},
		{Typeflag: tar.TypeReg, Name: "supervisor", Mode: 0o755, Size: int64(len(data))},
	} {
		h.Format = tar.FormatPAX
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
	}
	_, err = w.Write(data)
	return err
}
