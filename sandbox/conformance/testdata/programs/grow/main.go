// Command grow takes all there is of a resource.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"
)

var keep [][]byte

func take(mib int) {
	block := make([]byte, mib<<20)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	keep = append(keep, block)
}

func main() {
	switch os.Args[1] {
	case "to": // a number of MiB
		debug.SetGCPercent(-1)
		n, _ := strconv.Atoi(os.Args[2])
		take(n)
	case "hidden":
		try()
	case "pipes": // a number of MiB
		n, _ := strconv.Atoi(os.Args[2])
		pipes(n)
	case "memory":
		for {
			take(1)
		}
	case "goroutines":
		for {
			go func() { select {} }()
		}
	case "descriptors":
		for n := 0; ; n++ {
			if _, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0); err != nil {
				fmt.Println(n, err)
				return
			}
		}
	case "threads":
		for n := 1; ; n++ {
			ready := make(chan bool)
			go func() {
				runtime.LockOSThread()
				close(ready)
				time.Sleep(time.Hour)
			}()
			<-ready
			fmt.Println(n)
		}
	}
}
