// Command end ends in the way that its arguments name.
package main

import (
	"os"
	"strconv"
	"syscall"
)

func main() {
	switch os.Args[1] {
	case "exit":
		n, _ := strconv.Atoi(os.Args[2])
		os.Exit(n)
	case "signal":
		n, _ := strconv.Atoi(os.Args[2])
		syscall.Kill(os.Getpid(), syscall.Signal(n))
		select {}
	case "panic":
		panic("on purpose")
	case "nil":
		var p *int
		*p = 1
	case "deadlock":
		select {}
	}
}
