// Command flood writes a number of bytes to a descriptor, or bytes without end.
package main

import (
	"os"
	"strconv"
)

func main() {
	fd, _ := strconv.Atoi(os.Args[1])
	f := os.NewFile(uintptr(fd), "out")
	left := -1
	if len(os.Args) > 2 {
		left, _ = strconv.Atoi(os.Args[2])
	}
	for block := make([]byte, 64<<10); left != 0; {
		if left > 0 {
			block = block[:min(len(block), left)]
			left -= len(block)
		}
		if _, err := f.Write(block); err != nil {
			os.Exit(1)
		}
	}
}
