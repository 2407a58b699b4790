//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench-deadline: what memory a process takes is read from /proc, which only Linux has")
	os.Exit(1)
}
