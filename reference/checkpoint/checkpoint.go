// Package checkpoint saves the State of a training so that it can be resumed, whatever
// dies in between. It knows bytes, files and what has to be durable before what; it knows
// no model and no optimizer.
//
//	m, err := checkpoint.Open(folder, checkpoint.Config{Keep: 3, Best: true})
//	if err := m.Latest(&state); err != nil && !errors.Is(err, checkpoint.ErrNone) {
//		return err
//	}
//	for ; state.Step < steps; train(&state) {
//		if state.Step%1000 == 0 {
//			err = errors.Join(err, m.Save(ctx, &state))
//		}
//	}
//
// A checkpoint is written under a temporary name, synced, closed, renamed, and made durable
// by syncing the folder. Only then older ones are removed. How little of this can be left
// out is shown by Pillai et al., "All File Systems Are Not Created Equal" (OSDI 2014).
package checkpoint

import (
	"bufio"
	"io"
)

// Write writes a State to w. Equal States give equal bytes.
func Write(w io.Writer, s *State) error {
	e := newEncoder(w)
	e.state(s)
	return e.end()
}

// Read reads a State that Write has written from r, which it reads to its end. Numbers go
// into the memory of the Tensors that s has, where there is one of this length in this
// place. After an error, s may hold anything.
func Read(r io.Reader, s *State) error {
	d := newDecoder(r)
	d.state(s)
	return d.end()
}

// check returns the Metric of a checkpoint, or why it is none. It holds no tensors.
func check(r io.Reader) (metric float64, err error) {
	d := newDecoder(r)
	d.skip = true
	var s State
	d.state(&s)
	return s.Metric, d.end()
}

// bufferSize is how much is read or written at once. Numbers fill it without a rest.
const bufferSize = 16 << 10

func newEncoder(w io.Writer) *encoder { return &encoder{w: bufio.NewWriterSize(w, bufferSize)} }

func newDecoder(r io.Reader) *decoder { return &decoder{r: bufio.NewReaderSize(r, bufferSize)} }
