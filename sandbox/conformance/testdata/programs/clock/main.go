// Command clock spends time and asks for marks.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

var (
	ask   = os.NewFile(4, "mark")
	reply = os.NewFile(5, "answer")
)

func mark() {
	ask.Write([]byte{0})
	if n, err := reply.Read(make([]byte, 1)); n != 1 || err != nil {
		os.Exit(3)
	}
}

func used() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// burn uses so much CPU time, and returns how much it was.
func burn(d time.Duration) time.Duration {
	start := used()
	for used()-start < d {
	}
	return used() - start
}

// crowd is a thread that computes for 20 microseconds at each sixtieth of a second.
func crowd() {
	const rhythm = time.Second / 60
	runtime.LockOSThread()
	for {
		rest := syscall.NsecToTimespec(int64(rhythm) - time.Now().UnixNano()%int64(rhythm))
		syscall.Nanosleep(&rest, nil)
		for woke := time.Now(); time.Since(woke) < 20*time.Microsecond; {
		}
	}
}

func main() {
	n, _ := strconv.Atoi(os.Args[2])
	switch os.Args[1] {
	case "windows": // a busy window of n milliseconds, and an idle one as long
		d := time.Duration(n) * time.Millisecond
		mark()
		busy := burn(d)
		mark()
		time.Sleep(d)
		mark()
		fmt.Fprint(os.NewFile(3, "observe"), int64(busy))
	case "marks": // n of them
		for range n {
			mark()
		}
	case "deaf": // asks without end and never reads an answer
		for block := make([]byte, 4096); ; {
			ask.Write(block)
		}
	case "work": // for n milliseconds of CPU time
		burn(time.Duration(n) * time.Millisecond)
	case "crowd": // n threads that wake together and compute hardly anything
		var wg sync.WaitGroup
		for range n {
			wg.Go(crowd)
		}
		wg.Wait()
	case "spin": // on n threads
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				for {
				}
			})
		}
		wg.Wait()
	}
}
