// Command wait does nothing for ever, in the way that its argument names.
package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	switch os.Args[1] {
	case "deaf":
		signal.Ignore()
	case "stopped":
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "drip":
		for {
			os.Stdout.Write([]byte{'.'})
			time.Sleep(20 * time.Millisecond)
		}
	case "doze":
		for {
			time.Sleep(500 * time.Millisecond)
		}
	}
	for {
		time.Sleep(time.Hour)
	}
}
