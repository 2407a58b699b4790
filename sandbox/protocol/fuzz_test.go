package protocol

import (
	"bytes"
	"io"
	"testing"
	"time"

	"grade/sandbox"
)

// FuzzReadOutcome reads bytes as a hijacked supervisor could send them. Accepted
// outcomes keep within the limits and survive another round trip.
func FuzzReadOutcome(f *testing.F) {
	o := wholeOutcome()
	o.Stdout, o.Files[0].Data = []byte("short"), nil
	f.Add(encoded(f, o))
	f.Add(encoded(f, sandbox.Outcome{}))
	f.Add([]byte{})
	q := wholeRequest
	q.Limits.Stdout, q.Limits.CollectMax = 100, 100
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := readOutcome(bytes.NewReader(data), q)
		if err != nil {
			return
		}
		if len(o.Stdout) > 100 || len(o.Stderr) > 50 || len(o.Observations) > 60 || len(o.Marks) > sandbox.MaxMarks || len(o.Files) > 2 {
			t.Fatalf("exceeds the limits: %+v", o)
		}
		again, err := readOutcome(bytes.NewReader(encoded(t, o)), q)
		if err != nil || !bytes.Equal(encoded(t, again), encoded(t, o)) {
			t.Fatalf("%+v became %+v (%v)", o, again, err)
		}
		if sent := encoded(t, o); !bytes.Equal(sent, data[:len(sent)]) {
			t.Fatalf("%x was read as %x", data, sent)
		}
	})
}

// FuzzOutcomeRoundTrip sends outcomes as programs can cause them.
func FuzzOutcomeRoundTrip(f *testing.F) {
	f.Add(uint8(1), uint8(0), uint8(0), int64(1), int64(2), []byte("out"), []byte("err"), []byte("seen"), true)
	f.Add(uint8(0), uint8(9), uint8(3), int64(1)<<62, int64(0), []byte{}, []byte{0xff}, bytes.Repeat([]byte{0}, 70_000), false)
	f.Fuzz(func(t *testing.T, exit, signal, cause uint8, cpu, peak int64, stdout, stderr, observed []byte, cut bool) {
		o := sandbox.Outcome{
			ExitCode: int(exit), Signal: int(signal % 65), Cause: sandbox.Cause(cause % 7),
			CPU: time.Duration(max(cpu, 0)), Wall: time.Duration(max(cpu, 0)), Peak: max(peak, 0), PeakSource: sandbox.SourceRusage,
			Marks:  []sandbox.Mark{{CPU: time.Duration(max(cpu, 0)), Wall: time.Duration(max(peak, 0)), Memory: max(peak, 0)}},
			Stdout: stdout, Stderr: stderr, Observations: observed, StdoutCut: cut, ObserveCut: !cut,
			Files: []sandbox.File{{Name: "f", Exec: cut, Data: stdout}},
		}
		q := sandbox.Request{Collect: []string{"f"}, Limits: sandbox.Limits{
			Stdout: int64(len(stdout)), Stderr: int64(len(stderr)), Observations: int64(len(observed)), CollectMax: int64(len(stdout)),
		}}
		sent := encoded(t, o)
		got, err := readOutcome(bytes.NewReader(sent), q)
		if err != nil || !bytes.Equal(encoded(t, got), sent) {
			t.Fatalf("%+v became %+v (%v)", o, got, err)
		}
	})
}

func FuzzReadHello(f *testing.F) {
	var b bytes.Buffer
	_ = WriteHello(&b, Hello{Dirs: sandbox.Dirs{Work: "/work", Scratch: "/scratch"}, CPUs: []int{0, 1}, Cgroup: "v1"})
	f.Add(b.Bytes())
	f.Add([]byte("runtime: failed to create new OS thread"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := readHello(bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(h.CPUs) > maxList || len(h.Dirs.Work) > maxString {
			t.Fatalf("exceeds the limits: %+v", h)
		}
		var again bytes.Buffer
		if err := WriteHello(&again, h); err != nil || !bytes.HasPrefix(data, again.Bytes()) {
			t.Fatalf("%x was read as %x (%v)", data, again.Bytes(), err)
		}
	})
}

// FuzzReadRequest reads bytes on the supervisor's side. They come from grade, but
// carry files that students wrote.
func FuzzReadRequest(f *testing.F) {
	q := wholeRequest
	q.Files = []sandbox.File{{Name: "a", Exec: true, Data: []byte("data")}}
	var b bytes.Buffer
	_ = writeRequest(&b, q)
	f.Add(b.Bytes()[1:])
	f.Fuzz(func(t *testing.T, data []byte) {
		var files []sandbox.File
		q, err := ReadRequest(bytes.NewReader(data), func(name string, exec bool, size int64, r io.Reader) error {
			data, err := io.ReadAll(r)
			if err == nil && int64(len(data)) != size {
				err = io.ErrUnexpectedEOF
			}
			files = append(files, sandbox.File{Name: name, Exec: exec, Data: data})
			return err
		})
		if err != nil {
			return
		}
		q.Files = files
		var again bytes.Buffer
		if err := writeRequest(&again, q); err != nil || !bytes.HasPrefix(data, again.Bytes()[1:]) {
			t.Fatalf("%x was read as %x (%v)", data, again.Bytes(), err)
		}
	})
}
