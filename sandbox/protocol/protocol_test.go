package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
)

var wholeRequest = sandbox.Request{
	Path: "program", Args: []string{"-a", ""}, Env: []string{"A=b"}, Collect: []string{"out", "dir/more"}, Forks: true,
	Limits: sandbox.Limits{
		Wall: time.Second, CPU: 2 * time.Second, Memory: 3, Stdout: 100_000, Stderr: 50, Observations: 60, CollectMax: 70_000,
	},
}

func wholeOutcome() sandbox.Outcome {
	return sandbox.Outcome{
		ExitCode: 1, Signal: 9, Cause: sandbox.CauseMemory, Wall: 2, CPU: 3, BoxCPU: 4, BoxCPUSource: sandbox.SourceCgroupV2,
		Peak: 5, PeakSource: sandbox.SourceRusage, BoxPeak: 6, BoxPeakSource: sandbox.SourceCgroupV1,
		OOMKills: 7, OOMSource: sandbox.SourceWatchdog, PidsHit: 8, PidsSource: sandbox.SourceCgroupV2,
		Marks:  []sandbox.Mark{{CPU: 1, Wall: 2, Memory: 6}, {CPU: 3, Wall: 4, Memory: 5}},
		Stdout: bytes.Repeat([]byte("x"), 100_000), Stderr: []byte("no"), Observations: []byte{0, 255},
		StdoutCut: true, ObserveCut: true,
		Files: []sandbox.File{{Name: "out", Data: bytes.Repeat([]byte("y"), 70_000)}, {Name: "dir/more"}},
	}
}

func encoded(t testing.TB, o sandbox.Outcome) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteOutcome(&b, o, nil))
	return b.Bytes()
}

func TestRequestRoundTrip(t *testing.T) {
	q := wholeRequest
	q.Files = []sandbox.File{{Name: "a", Data: []byte("small")}, {Name: "b/c", Exec: true, Data: bytes.Repeat([]byte("z"), 200_000)}, {Name: "empty"}}
	var b bytes.Buffer
	require.NoError(t, writeRequest(&b, q))
	m, err := ReadMessage(&b)
	require.NoError(t, err)
	assert.Equal(t, MsgRun, m)
	var files []sandbox.File
	got, err := ReadRequest(&b, func(name string, exec bool, size int64, r io.Reader) error {
		data, err := io.ReadAll(r)
		assert.Len(t, data, int(size))
		if size == 0 {
			data = nil
		}
		files = append(files, sandbox.File{Name: name, Exec: exec, Data: data})
		return err
	})
	require.NoError(t, err)
	got.Files = files
	assert.Equal(t, q, got)
	assert.Zero(t, b.Len())
}

// ReadRequest skips the rest of a file that place has not read.
func TestRequestSkipsUnreadFiles(t *testing.T) {
	q := wholeRequest
	q.Files = []sandbox.File{{Name: "a", Data: make([]byte, 100_000)}, {Name: "b", Data: []byte("b")}}
	var b bytes.Buffer
	require.NoError(t, writeRequest(&b, q))
	_, err := ReadMessage(&b)
	require.NoError(t, err)
	var names []string
	_, err = ReadRequest(&b, func(name string, _ bool, _ int64, _ io.Reader) error {
		names = append(names, name)
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, names)
	assert.Zero(t, b.Len())
}

func TestOutcomeRoundTrip(t *testing.T) {
	for _, o := range []sandbox.Outcome{{}, wholeOutcome()} {
		r := bytes.NewReader(encoded(t, o))
		got, err := readOutcome(r, wholeRequest)
		require.NoError(t, err)
		assert.Equal(t, o, got)
		assert.Zero(t, r.Len())
	}
}

func TestFaultIsAnError(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteOutcome(&b, wholeOutcome(), errors.New(strings.Repeat("long ", 100_000))))
	o, err := readOutcome(&b, wholeRequest)
	var fault *Fault
	require.ErrorAs(t, err, &fault)
	assert.Len(t, fault.Text, maxString)
	assert.Zero(t, o)
	assert.Zero(t, b.Len())
}

func TestHelloRoundTrip(t *testing.T) {
	h := Hello{Dirs: sandbox.Dirs{Work: "/w", Scratch: "/s", GoRoot: "/go", GoCache: "/c"}, CPUs: []int{0, 3}, Cgroup: "v2"}
	var b bytes.Buffer
	require.NoError(t, WriteHello(&b, h))
	got, err := readHello(&b)
	require.NoError(t, err)
	assert.Equal(t, h, got)
}

func TestHelloOfAnotherVersion(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteHello(&b, Hello{}))
	stale := bytes.Clone(b.Bytes())
	stale[8]++
	_, err := readHello(bytes.NewReader(stale))
	require.ErrorContains(t, err, "speaks version 4, want 3")
	_, err = readHello(strings.NewReader("panic: something else altogether"))
	require.ErrorContains(t, err, "does not start with a supervisor's magic number")
}

func TestPinRoundTrip(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, writePin(&b, 7))
	m, err := ReadMessage(&b)
	require.NoError(t, err)
	assert.Equal(t, MsgPin, m)
	cpu, err := ReadPin(&b)
	require.NoError(t, err)
	assert.Equal(t, 7, cpu)
}

// A truncated stream is an error, never half an outcome.
func TestCutOutcomeIsAnError(t *testing.T) {
	o := wholeOutcome()
	o.Stdout, o.Files[0].Data = []byte("short"), nil
	whole := encoded(t, o)
	for n := range len(whole) {
		got, err := readOutcome(bytes.NewReader(whole[:n]), wholeRequest)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "after %d of %d bytes", n, len(whole))
		require.Zero(t, got)
	}
}

func TestHostileOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*sandbox.Outcome)
		want   string
	}{
		"more stdout than asked for": {func(o *sandbox.Outcome) { o.Stdout = make([]byte, 100_001) }, "length 100001 is out of range, want 0 to 100000"},
		"more stderr":                {func(o *sandbox.Outcome) { o.Stderr = make([]byte, 51) }, "length 51 is out of range, want 0 to 50"},
		"more observations":          {func(o *sandbox.Outcome) { o.Observations = make([]byte, 61) }, "length 61 is out of range, want 0 to 60"},
		"more marks":                 {func(o *sandbox.Outcome) { o.Marks = make([]sandbox.Mark, sandbox.MaxMarks+1) }, "length 65 is out of range, want 0 to 64"},
		"a larger file":              {func(o *sandbox.Outcome) { o.Files[0].Data = make([]byte, 70_001) }, "length 70001 is out of range, want 0 to 70000"},
		"more files":                 {func(o *sandbox.Outcome) { o.Files = append(o.Files, o.Files[0]) }, "length 3 is out of range, want 0 to 2"},
		"a file not requested":       {func(o *sandbox.Outcome) { o.Files[0].Name = "/etc/passwd" }, `the file "/etc/passwd", which was not requested`},
		"a file twice":               {func(o *sandbox.Outcome) { o.Files[1].Name = "out" }, `the file "out", which was not requested`},
		"an unknown cause":           {func(o *sandbox.Outcome) { o.Cause = 99 }, "unknown cause 99"},
		"a negative cause":           {func(o *sandbox.Outcome) { o.Cause = -1 }, "unknown cause -1"},
		"an unknown source":          {func(o *sandbox.Outcome) { o.PidsSource = 99 }, "unknown source 99"},
		"negative CPU time":          {func(o *sandbox.Outcome) { o.CPU = -1 }, "negative figure"},
		"marks that run backwards":   {func(o *sandbox.Outcome) { o.Marks[1].CPU = 0 }, "marks out of order"},
		"a negative mark":            {func(o *sandbox.Outcome) { o.Marks[0].Wall = -1 }, "marks out of order"},
		"a mark of negative size":    {func(o *sandbox.Outcome) { o.Marks[0].Memory = -1 }, "marks out of order"},
		"status out of range":        {func(o *sandbox.Outcome) { o.ExitCode = 256 }, "status 256"},
		"signal out of range":        {func(o *sandbox.Outcome) { o.Signal = 65 }, "signal 65"},
	} {
		t.Run(name, func(t *testing.T) {
			o := wholeOutcome()
			c.change(&o)
			got, err := readOutcome(bytes.NewReader(encoded(t, o)), wholeRequest)
			require.ErrorContains(t, err, c.want)
			assert.Zero(t, got)
		})
	}
}

// A claimed length above the request's limit is refused before anything is
// allocated.
func TestLengthsAreChecked(t *testing.T) {
	huge := binary.LittleEndian.AppendUint64(nil, 1<<40)
	for name, read := range map[string]func(io.Reader) error{
		"outcome": func(r io.Reader) error { _, err := readOutcome(r, wholeRequest); return err },
		"request": func(r io.Reader) error {
			_, err := ReadRequest(r, func(string, bool, int64, io.Reader) error { return nil })
			return err
		},
		"hello": func(r io.Reader) error {
			var b bytes.Buffer
			_ = WriteHello(&b, Hello{})
			_, err := readHello(io.MultiReader(bytes.NewReader(b.Bytes()[:16]), r))
			return err
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		assert.ErrorContains(t, read(bytes.NewReader(huge)), "is out of range", name)
		runtime.ReadMemStats(&after)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), name)
	}
}
