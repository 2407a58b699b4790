// Command fill writes to a file until that fails, and prints how far it got.
package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signal.Ignore(syscall.SIGXFSZ)
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	var said struct{ Bytes, Errno int }
	for block := make([]byte, 64<<10); ; {
		n, err := f.Write(block)
		said.Bytes += n
		var errno syscall.Errno
		if errors.As(err, &errno) {
			said.Errno = int(errno)
			break
		}
	}
	json.NewEncoder(os.Stdout).Encode(said)
}
