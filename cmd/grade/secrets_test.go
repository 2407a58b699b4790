package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
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
	courseDir := plantedCourse(t, canaries)
	e, err := course.Open(os.DirFS(courseDir)).Load("autograd")
	require.NoError(t, err)

	spy := &spySandbox{openedSandbox: openEngine(t), t: t, engine: engine, canaries: canaries}
	g := graderIn(t, spy)
	r, err := g.Grade(t.Context(), snapshotOf(t, referenceDir), e, grader.Options{Only: []verdict.Kind{verdict.Correctness}})
	require.NoError(t, err)
	assert.Equal(t, r.MaxScore, r.Score)
	g.Close() // and with it the box that the reference ran in
	assert.GreaterOrEqual(t, spy.looked, 4, "containers of two boxes that build and two that run")
}

// plantedCourse is a copy of the course with canaries in its files.
func plantedCourse(t *testing.T, canaries canaries) string {
	course := t.TempDir()
	for _, dir := range []string{"exercises/autograd", "reference/autograd"} {
		require.NoError(t, os.CopyFS(filepath.Join(course, dir), os.DirFS(filepath.Join(courseRoot, dir))))
	}
	plant := func(name, text string) {
		f, err := os.OpenFile(filepath.Join(course, name), os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, errors.Join(err, f.Close()))
	}
	plant("exercises/autograd/README.md", "\n"+canaries["readme"]+"\n")
	plant("reference/autograd/autograd.go", "\n// "+canaries["reference"]+"\n")
	return course
}

// spySandbox looks at a container before it is closed, when it has seen all.
type spySandbox struct {
	openedSandbox
	t        *testing.T
	engine   *client.Client
	canaries canaries

	mu     sync.Mutex
	looked int
}

type spyBox struct {
	sandbox.Box
	spy *spySandbox
}

func (s *spySandbox) Box(ctx context.Context, spec sandbox.Spec) (sandbox.Box, error) {
	b, err := s.openedSandbox.Box(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &spyBox{Box: b, spy: s}, nil
}

func (b *spyBox) Close() error {
	b.spy.look()
	return b.Box.Close()
}

// look goes through all containers of this process.
func (s *spySandbox) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range ownContainers(s.t, s.engine) {
		info, raw, err := s.engine.ContainerInspectWithRaw(s.t.Context(), c.ID, false)
		if err != nil {
			continue // removed since it was listed
		}
		require.Contains(s.t, string(raw), "/supervisor", "this is a container's description")
		s.search("inspect", raw)
		assert.Empty(s.t, info.HostConfig.Binds)
		for _, mount := range info.Mounts {
			assert.Equal(s.t, "volume", string(mount.Type))
			assert.Equal(s.t, "/usr/local/go", mount.Destination, "the toolchain, which is the same for all")
			assert.False(s.t, mount.RW, "what one build leaves would be there for the next")
		}
		export, err := s.engine.ContainerExport(s.t.Context(), c.ID)
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
