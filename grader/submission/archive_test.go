package submission

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/fault"
	"grade/grader/tree"
)

// packed is a member of an archive under test.
type packed struct {
	name, data string
	mode       fs.FileMode
}

func zipped(t *testing.T, files []packed) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(0o644 | f.mode)
		m, err := w.CreateHeader(h)
		require.NoError(t, err)
		_, err = m.Write([]byte(f.data))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func tarred(t *testing.T, files []packed) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: 0o644, Size: int64(len(f.data))}
		if f.mode&fs.ModeSymlink != 0 {
			h.Typeflag, h.Linkname, h.Size, f.data = tar.TypeSymlink, f.data, 0, ""
		}
		require.NoError(t, w.WriteHeader(h))
		_, err := w.Write([]byte(f.data))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

// snapshotIn writes an archive and takes what is in it.
func snapshotIn(t *testing.T, name string, data []byte) *Snapshot {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, data, 0o600))
	return take(t, file)
}

// eachFormat packs the files in every way.
func eachFormat(t *testing.T, files []packed, test func(t *testing.T, s *Snapshot)) {
	t.Helper()
	for name, data := range map[string][]byte{"work.zip": zipped(t, files), "work.tar.gz": tarred(t, files), "WORK.TGZ": tarred(t, files)} {
		t.Run(name, func(t *testing.T) { test(t, snapshotIn(t, name, data)) })
	}
}

// An archive gives the same files, hash and ignored names as the folder it was made of.
func TestArchiveIsItsFolder(t *testing.T) {
	files := map[string]string{"a.go": "package p\n", "b.go": "package p\n", "a_test.go": "package p\n", "README.md": "text", "sub/c.go": "package c\n"}
	want := take(t, tree.New(t, files))
	for _, top := range []string{"", "alice/", "./deep/er/"} {
		var list []packed
		for name, data := range files {
			list = append(list, packed{name: top + name, data: data})
		}
		eachFormat(t, list, func(t *testing.T, s *Snapshot) {
			assert.Equal(t, want.Hash, s.Hash)
			assert.Equal(t, want.Files, s.Files)
			assert.Empty(t, s.Problems)
			assert.Equal(t, "p", s.Package)
			assert.Len(t, s.Ignored, 3)
		})
	}
}

// skipLong skips a test that unpacks hundreds of megabytes under the race detector,
// which checks each byte.
func skipLong(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("unpacks hundreds of megabytes")
	}
}

// A forbidden entry is refused by its rule.
func TestArchiveRefused(t *testing.T) {
	skipLong(t)
	many := []packed{{name: "a.go", data: "package p\n"}}
	for i := range maxEntries {
		many = append(many, packed{name: fmt.Sprintf("f%d", i)})
	}
	var wide []packed
	for i := range maxKept/MaxFileSize + 1 {
		wide = append(wide, packed{name: fmt.Sprintf("d/%d.go", i), data: strings.Repeat("/", MaxFileSize)})
	}
	for rule, files := range map[string][]packed{
		"archive-path": {{name: "../a.go", data: "package p\n"}},
		"symlink":      {{name: "a.go", data: "/etc/passwd", mode: fs.ModeSymlink}},
		"too-many":     many,
		"too-large":    wide,
		"archive":      {{name: "x/a.go", data: "package p\n"}, {name: "y/a.go", data: "package p\n"}},
	} {
		t.Run(rule, func(t *testing.T) {
			eachFormat(t, files, func(t *testing.T, s *Snapshot) {
				require.NotEmpty(t, s.Problems)
				assert.Equal(t, rule, s.Problems[0].Rule, s.Problems[0].Message)
				assert.Empty(t, s.Files)
			})
		})
	}
	for name, data := range map[string][]byte{
		"cut.zip": zipped(t, many)[:1000], "cut.tgz": tarred(t, many)[:1000], "empty.zip": nil, "no.tar": []byte("no archive at all"),
	} {
		s := snapshotIn(t, name, data)
		require.Len(t, s.Problems, 1, name)
		assert.Equal(t, "archive", s.Problems[0].Rule, s.Problems[0].Message)
	}
}

// A zip may name a place outside of itself: that is its own fault, and not the disk's.
func TestArchiveNamesAPlaceOutside(t *testing.T) {
	for name, at := range map[string]uint64{"before.zip": 1 << 63, "behind.zip": 1<<63 - 5} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		extra := binary.LittleEndian.AppendUint64([]byte{1, 0, 8, 0}, at) // of zip64: where the member begins
		_, err := w.CreateHeader(&zip.FileHeader{Name: "a.go", Extra: extra})
		require.NoError(t, err)
		require.NoError(t, w.Close())
		data := b.Bytes()
		entry := bytes.Index(data, []byte("PK\x01\x02"))
		copy(data[entry+42:], "\xff\xff\xff\xff") // it begins where extra says
		s := snapshotIn(t, name, data)
		require.Len(t, s.Problems, 1, name)
		assert.Equal(t, "archive", s.Problems[0].Rule, s.Problems[0].Message)
	}
}

// Entries of a zip that all name one member are not unpacked one by one: a member may take long
// and hold nothing.
func TestArchiveOfSharedMembers(t *testing.T) {
	const size, entries = 64 << 10, 1000
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	content, err := w.CreateHeader(&zip.FileHeader{Name: "a.go"}) // stored as it is
	require.NoError(t, err)
	_, err = content.Write(bytes.Repeat([]byte("/"), size))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	data := b.Bytes()
	begin, end := bytes.Index(data, []byte("PK\x01\x02")), bytes.Index(data, []byte("PK\x05\x06"))
	entry, last := data[begin:end], bytes.Clone(data[end:])
	binary.LittleEndian.PutUint16(last[8:], entries)
	binary.LittleEndian.PutUint16(last[10:], entries)
	binary.LittleEndian.PutUint32(last[12:], uint32(entries*len(entry)))
	shared := append(append(bytes.Clone(data[:begin]), bytes.Repeat(entry, entries)...), last...)
	s := snapshotIn(t, "shared.zip", shared)
	require.Len(t, s.Problems, 1)
	assert.Contains(t, s.Problems[0].Message, "lie in the same place")
}

// Reading a bomb stops at the cap.
func TestArchiveBomb(t *testing.T) {
	skipLong(t)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	const size = 2 * maxUnpacked
	require.NoError(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "zeros", Mode: 0o644, Size: size}))
	zeros := make([]byte, 1<<20)
	for range size / len(zeros) {
		_, err := w.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	s := snapshotIn(t, "bomb.tgz", b.Bytes())
	require.Len(t, s.Problems, 1)
	assert.Equal(t, "too-large", s.Problems[0].Rule)

	// Of a zip, only Go files are unpacked, up to the cap.
	s = snapshotIn(t, "bomb.zip", zipped(t, []packed{{name: "a.go", data: strings.Repeat("/", 16<<20)}, {name: "zeros", data: strings.Repeat("\x00", 16<<20)}}))
	require.Len(t, s.Problems, 1)
	assert.Equal(t, "a.go", s.Problems[0].File)
	assert.Equal(t, "too-large", s.Problems[0].Rule)
}

// archive/zip holds the list of a zip's members as a whole, so that it is capped
// before it is read.
func TestArchiveWithALongList(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range 9000 {
		_, err := w.CreateRaw(&zip.FileHeader{Name: fmt.Sprintf("%0240d", i)})
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	s := snapshotIn(t, "work.zip", b.Bytes())
	require.Len(t, s.Problems, 1)
	assert.Equal(t, "too-many", s.Problems[0].Rule)
	assert.Contains(t, s.Problems[0].Message, "longer than 2 MiB")
}

// A Mac's metadata beside the solution's folder is no source, and does not hide it.
func TestArchiveWithMetadata(t *testing.T) {
	list := []packed{{name: "._solution.go", data: "\x00\x05\x16\x07"}, {name: "solution/a.go", data: "package p\n"}}
	eachFormat(t, list, func(t *testing.T, s *Snapshot) {
		assert.Empty(t, s.Problems)
		assert.Equal(t, []File{{Name: "a.go", Data: []byte("package p\n")}}, s.Files)
	})
}

// What has to be an archive is a regular file with an archive's name, and no link to one.
func TestTakeArchive(t *testing.T) {
	dir := tree.New(t, map[string]string{"folder.zip/a.go": "package p\n", "a.go": "package p\n"})
	work := zipped(t, []packed{{name: "a.go", data: "package p\n"}})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "work.zip"), work, 0o600))
	symlink(t, "folder.zip", dir, "linked.zip")
	symlink(t, "work.zip", dir, "work.tar")
	fifo(t, dir, "pipe.zip")
	for _, name := range []string{"folder.zip", "linked.zip", "work.tar", "pipe.zip", "a.go", "absent.zip"} {
		s, err := TakeArchive(filepath.Join(dir, name))
		var f *fault.Error
		require.ErrorAs(t, err, &f, name)
		assert.NotEmpty(t, f.Told, name)
		assert.Nil(t, s, name)
	}
	want := take(t, filepath.Join(dir, "work.zip"))
	got, err := TakeArchive(filepath.Join(dir, "work.zip"))
	require.NoError(t, err)
	assert.Equal(t, summary(want), summary(got))
	assert.Equal(t, want.Hash, take(t, filepath.Join(dir, "linked.zip")).Hash, "Take follows a link to a folder, whatever its name")
}
