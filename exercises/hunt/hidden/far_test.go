package hidden

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"sync"

	"grade/observe"
	"grade/reference/hunt"
)

// filling gives comments in pieces of half of what is asked for. Its last piece is all of that,
// and has the error with it, though there was room for no more bytes. After that it gives more
// text, as if nothing had happened.
type filling struct {
	pieces int  // before the last
	line   bool // the last piece ends with a line
	err    error
	given  bytes.Buffer // up to the error
	after  string
}

func (in *filling) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	if in.err == nil {
		if n = copy(p, in.after); n == 0 {
			return 0, io.EOF
		}
		in.after = in.after[n:]
		return n, nil
	}
	last := in.pieces == 0
	if in.pieces--; !last {
		p = p[:(len(p)+1)/2]
	}
	copy(p, strings.Repeat("y", len(p)))
	if in.given.Len() == 0 {
		p[0] = '#'
	}
	if last {
		err, in.err = in.err, nil
		if in.line {
			p[len(p)-1] = '\n'
		}
	}
	in.given.Write(p)
	return len(p), err
}

// filled records whether an error counts that comes with as many bytes as Read asks for,
// however many it asks for.
func filled(o *observe.Observer) {
	for pieces := range 4 {
		for _, line := range []bool{false, true} {
			for _, own := range []error{errOwn, io.ErrUnexpectedEOF, io.EOF} {
				for _, after := range []string{"\nx\ty\n", "\nno tab\n"} {
					in := &filling{pieces: pieces, line: line, err: own, after: after}
					if own == io.EOF {
						got := outcome(in)
						o.Bool("the end with all the bytes asked for", got == outcome(&in.given))
						continue
					}
					list, err := hunt.Read(in)
					o.Bool("the reader's error with all the bytes asked for", err == own)
					o.Bool("the reader's error with all the bytes asked for: no examples", list == nil)
				}
			}
		}
	}
}

// waitingFar records the same as waiting, of calls that wait when they have come far: within a
// long line, behind it, behind many lines, or behind many epochs.
func waitingFar(o *observe.Observer, r *rand.Rand, others func()) {
	many := lines("\n", plain(r, 100)...)
	line := "x\t" + letters(r, 1<<19) + "\n"
	text, end, epochs := many+line, lines("\n", plain(r, 3)...), random(r, 3_600)
	want := outcome(strings.NewReader(text + end))
	var whole bytes.Buffer
	o.Error("error", hunt.WriteMetrics(&whole, epochs))
	hangs := false
	meanwhile := func(alike func()) func() {
		return sync.OnceFunc(func() {
			hangs = hangs || !goesOn(func() {
				others()
				alike()
			})
		})
	}
	reads := func() { _, _ = hunt.Read(strings.NewReader(text)) }
	writes := func() { _ = hunt.WriteMetrics(io.Discard, epochs) }
	for _, far := range []int{len(many), len(many) + 5_000, len(many) + 70_000, len(many) + 300_000, len(text)} {
		o.Bool("read", outcome(&calling{text: text + end, far: far, do: meanwhile(reads)}) == want)
	}
	o.Bool("others wait for a reader that has come far", hangs)
	for _, far := range []int{20_000, 70_000} {
		out := &calling{far: far, do: meanwhile(writes)}
		o.Error("error", hunt.WriteMetrics(out, epochs))
		o.Bool("written", string(out.got) == whole.String())
	}
	o.Bool("others wait for a writer that has come far", hangs)
	crowdsFar(o, r, hangs)
}

// crowdsFar records whether many calls that have come far wait at one time.
func crowdsFar(o *observe.Observer, r *rand.Rand, hangs bool) {
	text, epochs := "x\t"+letters(r, 75_000)+"\n"+lines("\n", plain(r, 3)...), random(r, 300)
	want := outcome(strings.NewReader(text))
	var whole bytes.Buffer
	_ = hunt.WriteMetrics(&whole, epochs)
	others := func() {
		_, _ = hunt.Read(strings.NewReader(text))
		_ = hunt.WriteMetrics(io.Discard, epochs)
	}
	hangs = hangs || !crowd(below(r, 70, 90), others, func(c *calling) bool { // the starter holds a megabyte for each
		c.text, c.far = text, 70_000
		return outcome(c) == want
	})
	o.Bool("a Read or another call waits where many Reads wait within a long line", hangs)
	hangs = hangs || !crowd(below(r, 140, 280), others, func(c *calling) bool {
		c.far = 5_000
		return hunt.WriteMetrics(c, epochs) == nil && string(c.got) == whole.String()
	})
	o.Bool("a WriteMetrics or another call waits where many WriteMetrics wait behind many epochs", hangs)
}
