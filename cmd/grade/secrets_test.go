package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/client"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/verdict"
	"grade/sandbox"
)

// What must not be in a sandbox is planted outside it, as random canaries, and
// looked for in everything that the engine knows of every container of a
// grading: what `docker inspect` and `docker export` show.
func TestNothingSecretGoesIn(t *testing.T) {
	engine := engineClient(t)
	canaries := canaries{"environment": rand.Text(), "reference": rand.Text(), "readme": rand.Text()}
	t.Setenv("GRADE_TEST_SECRET", canaries["environment"])
	root := t.TempDir()
	planted{files: map[string]string{
		plantedIn + "README.md": "# Mean\n => # Mean\n\n" + canaries["readme"] + "\n",
		plantedReference:        "package clip\n => package clip\n\n// " + canaries["reference"] + "\n",
	}}.into(t, root)
	e, err := course.Open(os.DirFS(root)).Load("clip")
	require.NoError(t, err)

	spy := &spySandbox{openedSandbox: openEngine(t), t: t, engine: engine, canaries: canaries}
	g := graderIn(t, spy)
	r, err := g.Grade(t.Context(), snapshotOf(t, filepath.Join(root, plantedAccepted)), e, grader.Options{Only: []verdict.Kind{verdict.Correctness}})
	require.NoError(t, err)
	assert.Equal(t, r.MaxScore, r.Score)
	g.Close() // and with it the box that the reference ran in
	assert.GreaterOrEqual(t, spy.looked, 4, "containers of two boxes that build and two that run")
}

// spySandbox looks at a container before it is closed, when it has seen all.
type spySandbox struct {
	openedSandbox
	t        *testing.T
	engine   *client.Client
	canaries canaries

	opening sync.Mutex
	mu      sync.Mutex
	looked  int
}

type spyBox struct {
	sandbox.Box
	spy        *spySandbox
	containers []string // that were made for it
}

// Box opens one box at a time, to see which container comes with it.
func (s *spySandbox) Box(ctx context.Context, spec sandbox.Spec) (sandbox.Box, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	before := s.containers()
	b, err := s.openedSandbox.Box(ctx, spec)
	if err != nil {
		return nil, err
	}
	made := slices.DeleteFunc(s.containers(), func(id string) bool { return slices.Contains(before, id) })
	assert.NotEmpty(s.t, made)
	return &spyBox{Box: b, spy: s, containers: made}, nil
}

// containers are those of this process.
func (s *spySandbox) containers() (ids []string) {
	for _, c := range ownContainers(s.t, s.engine) {
		ids = append(ids, c.ID)
	}
	return ids
}

func (b *spyBox) Close() error {
	b.spy.look(b.containers)
	return b.Box.Close()
}

// look goes through containers.
func (s *spySandbox) look(containers []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range containers {
		info, raw, err := s.engine.ContainerInspectWithRaw(s.t.Context(), id, false)
		if err != nil {
			continue // it was there to make an image, and has gone
		}
		require.Contains(s.t, string(raw), "/supervisor", "this is a container's description")
		s.search("inspect", raw)
		assert.Empty(s.t, info.HostConfig.Binds)
		for _, mount := range info.Mounts {
			assert.Equal(s.t, "volume", string(mount.Type))
			assert.Equal(s.t, "/usr/local/go", mount.Destination, "the toolchain, which is the same for all")
			assert.False(s.t, mount.RW, "what one build leaves would be there for the next")
		}
		export, err := s.engine.ContainerExport(s.t.Context(), id)
		if err != nil {
			continue
		}
		s.searchArchive(export)
		export.Close()
		s.looked++
	}
}

func (s *spySandbox) searchArchive(r io.Reader) {
	for a := tar.NewReader(r); ; {
		h, err := a.Next()
		if err != nil {
			return
		}
		// The toolchain is the same in every image, and large.
		if strings.HasPrefix(h.Name, "usr/local/go/") || strings.HasPrefix(h.Name, "gocache/") && h.Size > 1<<20 {
			continue
		}
		data, err := io.ReadAll(a)
		require.NoError(s.t, err)
		s.search(h.Name, data)
	}
}

// search looks for canaries, and for what is in the host's environment.
func (s *spySandbox) search(where string, data []byte) {
	s.canaries.search(s.t, where, data)
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); len(value) > 8 && name != "PATH" {
			assert.False(s.t, bytes.Contains(data, []byte(variable)), "%s: %s of the host's environment is in it", where, name)
		}
	}
}

// canaries are texts that must not come to light, by what they were planted in.
type canaries map[string]string

// search looks for each canary as it is and in the usual disguises.
func (c canaries) search(t *testing.T, where string, data []byte) {
	t.Helper()
	for what, canary := range c {
		for _, form := range []string{canary, hex.EncodeToString([]byte(canary)), base64.StdEncoding.EncodeToString([]byte(canary))} {
			assert.False(t, bytes.Contains(data, []byte(form)), "%s: the canary of the %s is in it", where, what)
		}
	}
}
