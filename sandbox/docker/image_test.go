package docker

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/system"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade"
	"grade/sandbox/conformance"
)

// otherSources returns the real tree with a changed supervisor, so that a test can
// make and remove images of its own.
func otherSources(t *testing.T) fs.FS {
	t.Helper()
	tree := fstest.MapFS{"sandbox/supervisor/other.go": {Data: []byte(`package main

import "os"

func init() {
	if len(os.Args) == 99 {
		println("a supervisor for a test")
	}
}
`)}}
	for _, dir := range []string{"sandbox", "sandbox/protocol", "sandbox/supervisor"} {
		entries, err := fs.ReadDir(grade.Sources, dir)
		require.NoError(t, err)
		for _, e := range entries {
			if name := dir + "/" + e.Name(); !e.IsDir() {
				data, err := fs.ReadFile(grade.Sources, name)
				require.NoError(t, err)
				tree[name] = &fstest.MapFile{Data: data}
			}
		}
	}
	return tree
}

// An image that is deleted meanwhile is an error of the sandbox, and the next grade
// makes it again.
func TestDeletedImage(t *testing.T) {
	config := Config{Sources: otherSources(t)}
	one, err := Open(t.Context(), config)
	conformance.Need(t, err)
	defer one.Close()
	open(t, one, conformance.Spec()).Close()
	name := one.Info().Image
	assert.NotEqual(t, engine(t).Info().Image, name)
	remove := func() {
		_, err := one.client.ImageRemove(t.Context(), name, image.RemoveOptions{})
		require.NoError(t, err)
	}
	one.settle()
	remove()
	open(t, one, conformance.Spec()).Close() // makes it anew
	one.settle()
	assert.Empty(t, containers(t, one))
	remove()

	two, err := Open(t.Context(), config)
	require.NoError(t, err)
	defer two.Close()
	open(t, two, conformance.Spec()).Close()
	assert.Equal(t, name, two.Info().Image)
	two.settle()
	remove()
}

func TestTagsNameContent(t *testing.T) {
	tags := map[string]bool{
		tag("r", "ab", "c"): true, tag("r", "a", "bc"): true, tag("r", "abc"): true, tag("r"): true, tag("r", ""): true, tag("s", "abc"): true,
	}
	assert.Len(t, tags, 6)
	assert.Equal(t, tag("r", "a"), tag("r", "a"))
}

func TestRootFiles(t *testing.T) {
	// A GOROOT that is a link and holds links, as a distribution may have it.
	real, share, root := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "go")
	tool := "pkg/tool/" + runtime.GOOS + "_" + runtime.GOARCH
	write := func(dir, name string) {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte("x"), 0o700))
	}
	for _, name := range []string{"VERSION", "go.env", "bin/go", "bin/gofmt", tool + "/compile", "pkg/tool/plan9_mips/compile", "pkg/include/textflag.h", "api/go1.txt"} {
		write(real, name)
	}
	for _, name := range []string{"fmt/print.go", "fmt/print_test.go", "fmt/testdata/x.go", "cmd/go/main.go", "vendor/cmd/kept.go"} {
		write(share, name)
	}
	require.NoError(t, os.Symlink(share, filepath.Join(real, "src")))
	require.NoError(t, os.Symlink(real, root))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(share, "fmt", "link.go")))

	files, err := rootFiles(root)
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		names = append(names, f.name)
		assert.Equal(t, int64(1), f.size)
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		_, err := addRootFile(w, f)
		require.NoError(t, err)
		h, err := tar.NewReader(&b).Next()
		require.NoError(t, err)
		assert.Equal(t, "usr/local/go/"+f.name, h.Name)
		assert.Equal(t, int64(0o755), h.Mode)
		assert.Zero(t, h.Uid)
	}
	assert.ElementsMatch(t, []string{"VERSION", "go.env", "bin/go", tool + "/compile", "pkg/include/textflag.h", "src/fmt/print.go", "src/vendor/cmd/kept.go"}, names)
}

func TestStreamError(t *testing.T) {
	for stream, want := range map[string]string{
		"":                                      "",
		`{"status":"sha256:1"}` + "\n":          "",
		`{"status":"a"}{"status":"b"}`:          "",
		`{"status":"a"}{"error":"disk full"}`:   "disk full",
		`{"error":"no space"}{"status":"late"}`: "no space",
		`{"status":`:                            io.ErrUnexpectedEOF.Error(),
		"<html>":                                "invalid character '<' looking for beginning of value",
	} {
		err := streamError(strings.NewReader(stream))
		if want == "" {
			assert.NoError(t, err, stream)
		} else {
			assert.EqualError(t, err, want, stream)
		}
	}
}

func TestExamine(t *testing.T) {
	good := system.Info{OSType: "linux", Architecture: "x86_64", MemoryLimit: true, PidsLimit: true}
	for name, c := range map[string]struct {
		change     func(*system.Info)
		arch, want string
	}{
		"as it should be": {func(*system.Info) {}, "amd64", ""},
		"arm":             {func(i *system.Info) { i.Architecture = "aarch64" }, "arm64", ""},
		"windows":         {func(i *system.Info) { i.OSType = "windows" }, "", "runs windows containers, want linux"},
		"another machine": {func(i *system.Info) { i.Architecture = "riscv64" }, "", "on riscv64, want amd64 or arm64"},
		"no memory limit": {func(i *system.Info) { i.MemoryLimit = false }, "", "cannot limit memory and processes: see the warnings of docker info"},
		"no pids limit":   {func(i *system.Info) { i.PidsLimit = false }, "", "cannot limit memory and processes: see the warnings of docker info"},
	} {
		info := good
		c.change(&info)
		arch, err := examine(info)
		assert.Equal(t, c.arch, arch, name)
		if c.want != "" {
			assert.EqualError(t, err, c.want, name)
		}
	}
}

// The profile is an allow-list without the system calls of known container escapes.
func TestSeccompProfile(t *testing.T) {
	var profile struct {
		DefaultAction string
		Syscalls      []struct {
			Names  []string
			Action string
			Args   []any
		}
	}
	require.NoError(t, json.Unmarshal([]byte(seccompProfile), &profile))
	assert.Equal(t, "SCMP_ACT_ERRNO", profile.DefaultAction)
	for _, rule := range profile.Syscalls {
		for _, name := range rule.Names {
			assert.NotRegexp(t, `^(io_uring|bpf|keyctl|add_key|request_key|ptrace|process_vm|unshare|setns|mount|umount|pivot_root|chroot|userfaultfd|perf_event|`+
				`socket|connect|bind|sendto|open_by_handle|memfd|init_module|finit_module|kexec|pidfd_getfd|mknod|swap|reboot|ipc|shm|msg|sem)`, name)
		}
		if strings.Contains(strings.Join(rule.Names, " "), "clone") {
			assert.True(t, rule.Action != "SCMP_ACT_ALLOW" || len(rule.Args) > 0, "clone only by its flags")
		}
	}
}
