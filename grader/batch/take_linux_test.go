package batch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"grade/grader/fault"
	"grade/grader/intake"
)

// What a student puts on the way to a submission after it was found is not followed, and costs
// that student alone.
func TestLinkInTheWay(t *testing.T) {
	for name, put := range map[string]func(t *testing.T, root string){
		"a link to another's": func(t *testing.T, root string) {
			mean := filepath.Join(root, "mallory", "mean")
			require.NoError(t, os.RemoveAll(mean))
			require.NoError(t, os.Symlink("../ada/mean", mean))
		},
		"a link above": func(t *testing.T, root string) {
			require.NoError(t, os.RemoveAll(filepath.Join(root, "mallory")))
			require.NoError(t, os.Symlink("ada", filepath.Join(root, "mallory")))
		},
		"a pipe": func(t *testing.T, root string) {
			mean := filepath.Join(root, "mallory", "mean")
			require.NoError(t, os.RemoveAll(mean))
			require.NoError(t, syscall.Mkfifo(mean, 0o600))
		},
		"nothing": func(t *testing.T, root string) {
			require.NoError(t, os.RemoveAll(filepath.Join(root, "mallory")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "students")
			for _, student := range []string{"ada", "mallory"} {
				dir := filepath.Join(root, student, "mean")
				require.NoError(t, os.MkdirAll(dir, 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(dir, "mean.go"), []byte("package mean // of "+student+"\n"), 0o600))
			}
			found, err := intake.Find(root, []string{"mean"})
			require.NoError(t, err)
			require.Len(t, found, 2)
			put(t, root)
			for _, s := range found {
				snapshot, err := Item{Submission: s}.read(t.Context())
				if s.Student == "ada" {
					require.NoError(t, err)
					assert.Equal(t, s.Path, snapshot.Dir)
					continue
				}
				require.Error(t, err)
				assert.Equal(t, fault.Student, fault.KindOf(err), "%v", err)
				assert.Contains(t, fault.Told(err), "moved away while it was read")
			}
		})
	}
}

// What comes to stand in an archive's place is not taken: neither after it was found, nor after
// the folder that holds it was opened, nor where the caller gave its own path.
func TestInPlaceOfAnArchive(t *testing.T) {
	for name, put := range map[string]func(archive string) error{
		"a link to another's folder":  func(archive string) error { return os.Symlink("../ada", archive) },
		"a link to another's archive": func(archive string) error { return os.Symlink("../ada.zip", archive) },
		"another's folder":            func(archive string) error { return os.Rename("../ada", archive) },
		"a folder":                    func(archive string) error { return os.Mkdir(archive, 0o700) },
		"a pipe":                      func(archive string) error { return syscall.Mkfifo(archive, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(root, "mallory"), 0o700))
			require.NoError(t, os.Mkdir(filepath.Join(root, "ada"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(root, "ada", "mean.go"), []byte("package mean\n"), 0o600))
			t.Chdir(filepath.Join(root, "mallory"))
			archive := filepath.Join(root, "mallory", "mean.zip")
			for _, there := range []string{archive, "../ada.zip"} {
				require.NoError(t, os.WriteFile(there, []byte("no archive"), 0o600))
			}
			below, err := intake.Find(filepath.Join(root, "mallory"), []string{"mean"})
			require.NoError(t, err)
			itself, err := intake.Find(archive, []string{"mean"})
			require.NoError(t, err)
			folder, last, err := openBelow(root, "mallory/mean.zip")
			require.NoError(t, err)
			defer unix.Close(folder)

			require.NoError(t, os.Remove(archive))
			require.NoError(t, put(archive))
			for _, s := range append(below, itself...) {
				require.True(t, s.Archive)
				_, err = Item{Submission: s}.read(t.Context())
				require.Error(t, err)
				assert.Contains(t, fault.Told(err), "moved away while it was read")
			}
			_, err = takeIn(folder, last, archive)
			require.Error(t, err)
			assert.NotContains(t, err.Error(), "/proc/")
			assert.Contains(t, fault.Told(changed(archive, err)), "moved away while it was read")
		})
	}
}

// What is read below the folder that was given is called as it was found.
func TestNamesOfWhatIsRead(t *testing.T) {
	root := t.TempDir()
	empty := filepath.Join(root, "ada", "mean")
	require.NoError(t, os.MkdirAll(empty, 0o700))
	_, err := takeBelow(intake.Submission{From: root, Path: empty})
	require.ErrorContains(t, err, empty)
	assert.NotContains(t, err.Error(), "/proc/")
	archive := filepath.Join(root, "ada", "mean.zip")
	require.NoError(t, os.WriteFile(archive, []byte("no archive"), 0o600))
	s, err := takeBelow(intake.Submission{From: root, Path: archive})
	require.NoError(t, err)
	assert.Equal(t, archive, s.Dir)
	require.Len(t, s.Problems, 1)
	assert.Equal(t, "mean.zip", s.Problems[0].File)
	if os.Getuid() != 0 { // who may read everything
		require.NoError(t, os.Chmod(archive, 0))
		_, err = takeBelow(intake.Submission{From: root, Path: archive})
		require.ErrorContains(t, err, archive+": permission denied")
		assert.NotContains(t, err.Error(), "/proc/")
	}
	_, err = takeBelow(intake.Submission{From: archive, Path: filepath.Join(root, "ada")})
	require.ErrorContains(t, err, "no Go file in "+filepath.Join(root, "ada"), "a path that is above what was given is read as it is")
	require.NoError(t, os.Symlink("ada", filepath.Join(root, "given")))
	_, err = takeBelow(intake.Submission{From: filepath.Join(root, "given"), Path: filepath.Join(root, "given", "mean")})
	require.ErrorContains(t, err, "is empty", "the caller's own link is followed")
}

// A student who moves files about while they are read gets no error of ours; a disk does.
func TestErrorsOfWhatIsMovedAway(t *testing.T) {
	dir := t.TempDir()
	for _, why := range []error{fs.ErrNotExist, syscall.ELOOP, syscall.ENOTDIR, syscall.ENXIO, syscall.EAGAIN} {
		err := changed(dir, &fs.PathError{Op: "open", Path: "a.go", Err: why})
		assert.Equal(t, fault.Student, fault.KindOf(err), "%v", why)
	}
	disk := &fs.PathError{Op: "read", Path: "a.go", Err: syscall.EIO}
	require.True(t, errors.Is(changed(dir, disk), disk))
}
