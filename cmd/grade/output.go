package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// output is standard output. It keeps its first error: a command whose result was lost has
// not ended well, whatever the result was.
type output struct {
	to  io.Writer
	err error
}

var errClosed = errors.New("standard output is closed (or /dev/null, opened for reading too); to throw the result away: >/dev/null")

func (o *output) Write(p []byte) (n int, err error) {
	if o.to == os.Stdout && wasClosed() {
		err = errClosed
	} else {
		n, err = o.to.Write(p)
	}
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("write output: %w", err)
	}
	return n, err
}
