package engine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course/coursetest"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/service"
)

func uploadOf(i int) service.Upload {
	return service.Upload{
		Student: fmt.Sprintf("s%03d", i%17), Exercise: "gears", Source: "upload",
		Snapshot: submission.Of("upload", []submission.File{{Name: "a.go", Data: fmt.Appendf(nil, "package gears // %d\n", i)}}),
	}
}

// disk is a file system on a file. What the file holds is what a disk would: what was
// written and not synced is in the memory of the kernel alone. A copy of the file is the
// disk after a power cut.
type disk struct {
	*testing.T
	image, at string
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: only root can mount a disk")
	}
	d := &disk{T: t, image: filepath.Join(t.TempDir(), "disk"), at: t.TempDir()}
	require.NoError(t, os.WriteFile(d.image, nil, 0o600))
	require.NoError(t, os.Truncate(d.image, 384<<20))
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: no file system can be made: %v %s", err, out)
	}
	d.mount()
	return d
}

// mount mounts the disk until the test ends. It writes to the file when it is told to sync,
// and not every five seconds.
func (d *disk) mount() {
	d.Helper()
	if out, err := exec.Command("mount", "-o", "loop,commit=600", d.image, d.at).CombinedOutput(); err != nil {
		d.Skipf("NOT TESTED: no disk can be mounted: %v %s", err, out)
	}
	d.Cleanup(d.unmount)
}

func (d *disk) unmount() {
	if out, err := exec.Command("umount", d.at).CombinedOutput(); err != nil && !strings.Contains(string(out), "not mounted") {
		d.Errorf("unmount: %v %s", err, out)
	}
}

// cut returns the disk as it is after a power cut now.
func (d *disk) cut() *disk {
	d.Helper()
	after := &disk{T: d.T, image: filepath.Join(d.TempDir(), "disk"), at: d.TempDir()}
	out, err := exec.Command("cp", "--sparse=always", d.image, after.image).CombinedOutput()
	require.NoError(d, err, string(out))
	after.mount()
	return after
}

// acknowledged is what the engine has said it keeps.
type acknowledged struct {
	attempts []service.Attempt
	records  []results.Record
}

// lost opens what a disk has after a power cut, and lists what was acknowledged and is not
// there.
func (a acknowledged) lost(d *disk) (list []string) {
	d.Helper()
	after := d.cut()
	defer after.unmount()
	e, err := Open(d.Context(), Config{DataDir: filepath.Join(after.at, "data"), Grader: "g"})
	require.NoError(d, err)
	defer func() { require.NoError(d, e.Close()) }()
	for _, x := range a.attempts {
		if got, ok := e.Attempt(x.Student, x.Exercise, x.Number); !ok || got.Content != x.Content {
			list = append(list, fmt.Sprintf("attempt %d of %s", x.Number, x.Student))
		} else if _, err := e.Source(d.Context(), x.Student, x.Exercise, x.Number); err != nil {
			list = append(list, fmt.Sprintf("the files of attempt %d of %s: %v", x.Number, x.Student, err))
		}
	}
	for _, r := range a.records {
		if got, ok := e.store.ByKey(r.Key); !ok || got.Result.Score != 100 {
			list = append(list, fmt.Sprintf("the result of attempt %d of %s", r.Attempt, r.Student))
		}
	}
	return list
}

// rush hands in and grades, and cuts the power after every few.
func rush(t *testing.T, uploads, every int, noSync bool) (lost []string, cuts int) {
	t.Helper()
	d := newDisk(t)
	e, err := Open(t.Context(), Config{DataDir: filepath.Join(d.at, "data"), Grader: "g", noSync: noSync})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	_, _, err = e.SetCourse(t.Context(), coursetest.FS(coursetest.Files()))
	require.NoError(t, err)
	var acked acknowledged
	for i := range uploads {
		a, err := e.HandIn(t.Context(), uploadOf(i))
		require.NoError(t, err)
		r := record(a)
		require.NoError(t, e.store.Append(r))
		acked.attempts, acked.records = append(acked.attempts, a), append(acked.records, r)
		if i%every == every-1 {
			lost, cuts = append(lost, acked.lost(d)...), cuts+1
		}
	}
	return lost, cuts
}

// After a power cut all that was acknowledged is there, at every 50th write: a hand-in and
// its result are six.
func TestPowerCut(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED: -short: a disk is copied and mounted a dozen times")
	}
	lost, cuts := rush(t, 96, 8, false)
	assert.Equal(t, 12, cuts)
	assert.Empty(t, lost)
}

// The test before this one can fail: without a sync before each acknowledgement, what was
// acknowledged is lost.
func TestPowerCutWithoutSync(t *testing.T) {
	lost, _ := rush(t, 8, 8, true)
	assert.NotEmpty(t, lost)
}
