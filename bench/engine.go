package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"

	"grade"
	"grade/exercises"
	"grade/grader"
	"grade/sandbox"
	"grade/sandbox/docker"
)

// removeTimeout bounds the removal of a container that did not go by itself.
const removeTimeout = 10 * time.Second

// engine is contender c.
type engine struct {
	client  *client.Client
	version string
	image   string
	config  *container.Config
	tree    []byte // a tar archive
}

// openEngine has the sandbox make its build image, or find it, and asks a box
// of it where things are.
func openEngine(ctx context.Context, e *exercises.Exercise) (*engine, error) {
	warm := grader.Warm(grade.Sources)
	d, err := docker.Open(ctx, docker.Config{Sources: grade.Sources, Warm: warm})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	box, err := d.Box(ctx, sandbox.Spec{Purpose: sandbox.Build, Memory: 1 << 30, Pids: 512, Scratch: 64 << 20})
	if err != nil {
		return nil, err
	}
	defer box.Close()
	requests, err := warm.Requests(box.Dirs())
	if err != nil {
		return nil, err
	}
	request := requests[len(requests)-1] // the one that compiles
	c, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		return nil, err
	}
	g := &engine{client: c, version: d.Version(), image: d.Info().Build}
	if g.tree, err = archive(box.Dirs().Work, append(requests[0].Files, packages(e)...)); err != nil {
		return nil, err
	}
	flags := slices.DeleteFunc(flagsOf(request), func(f string) bool { return f == "-c" })
	g.config = &container.Config{
		Image: g.image, WorkingDir: box.Dirs().Work, Env: request.Env, User: "0:0",
		Entrypoint:   slices.Concat([]string{request.Path}, flags, []string{"-count=1", "-run=" + pattern(e), hidden(e)}),
		Cmd:          []string{},
		AttachStdout: true, AttachStderr: true,
	}
	return g, nil
}

func (g *engine) close() { g.client.Close() }

// describe says which engine and image; nothing where there is none.
func (g *engine) describe() string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf(", docker %s, %s", g.version, g.image)
}

// archive is a tree below a folder of the container.
func archive(dir string, files []sandbox.File) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: dir + "/" + f.Name, Mode: 0o644, Size: int64(len(f.Data))}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), w.Close()
}

// round is what docker run --rm does, with the tree copied in. The container
// has no network, which spares it the making of one.
func (g *engine) round(ctx context.Context) (d time.Duration, err error) {
	started := time.Now()
	created, err := g.client.ContainerCreate(ctx, g.config, &container.HostConfig{AutoRemove: true, NetworkMode: "none"}, nil, nil, "")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil { // else it is gone
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
			defer cancel()
			gone := g.client.ContainerRemove(ctx, created.ID, container.RemoveOptions{Force: true})
			if !errdefs.IsNotFound(gone) {
				err = errors.Join(err, gone)
			}
		}
	}()
	if err := g.client.CopyToContainer(ctx, created.ID, "/", bytes.NewReader(g.tree), container.CopyToContainerOptions{}); err != nil {
		return 0, err
	}
	status, out, err := g.wait(ctx, created.ID)
	if err != nil {
		return 0, err
	}
	if d = time.Since(started); status != 0 {
		return 0, fmt.Errorf("go test in a container ended with status %d: %s", status, out)
	}
	return d, nil
}

// wait starts a container and waits until the engine has removed it.
func (g *engine) wait(ctx context.Context, id string) (status int64, out []byte, err error) {
	stream, err := g.client.ContainerAttach(ctx, id, container.AttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return 0, nil, err
	}
	defer stream.Close()
	defer context.AfterFunc(ctx, stream.Close)()
	removed, errs := g.client.ContainerWait(ctx, id, container.WaitConditionRemoved)
	if err := g.client.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		return 0, nil, err
	}
	var b bytes.Buffer
	if _, err := stdcopy.StdCopy(&b, &b, stream.Reader); err != nil {
		return 0, nil, err
	}
	select {
	case r := <-removed:
		return r.StatusCode, b.Bytes(), nil
	case err := <-errs:
		return 0, nil, err
	}
}
