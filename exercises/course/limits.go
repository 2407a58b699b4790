package course

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Unhurried is the multiple of the limits on time that a measured run may take. Where its memory
// is asked for, slowness is another check's; where its time is, the reference says what is too slow.
const Unhurried = 4

// The multiples of its limits that a run with the race detector may take, and the share of
// the memory that a goroutine's stack may. Package golang sets both; its tests hold these.
const (
	RaceCPU    = 10
	RaceWall   = 3
	RaceMemory = 5
	StackShare = 2 // one in so many
)

// Idle is the time for which a test may wait without computing. A hidden test that gives up
// on a call by the clock has to do so earlier.
const Idle = 15 * time.Second

// Beside says what else can end a run, in sentences for a list: a recursion without end, a
// wait without end, and the limits of a run with the race detector.
func (l Limits) Beside() []string {
	race := fmt.Sprintf("With the race detector a run may take %s of memory, %s of CPU time and %s in all.",
		size(l.Memory*RaceMemory), seconds(l.CPU*RaceCPU), seconds(l.Wall*RaceWall))
	idle := fmt.Sprintf("A test that waits for %s and computes nothing meanwhile is stopped.", seconds(Idle))
	return []string{fmt.Sprintf("The stack of a goroutine may have %s.", size(l.Memory/StackShare)), idle, race}
}

// String says what a run of a hidden test may take, in a sentence for the README.
func (l Limits) String() string {
	return fmt.Sprintf("A run of a test may take %s of memory, %s of CPU time, %s in all, %s each of standard output and standard error, and %s of files; "+
		"one that is measured, %d times as long.",
		size(l.Memory), seconds(l.CPU), seconds(l.Wall), size(l.Output), size(l.Scratch), Unhurried)
}

// StatedIn reports whether a README has the sentence, however it is wrapped.
func (l Limits) StatedIn(readme []byte) bool {
	space := regexp.MustCompile(`\s+`)
	return strings.Contains(space.ReplaceAllString(string(readme), " "), l.String())
}

func size(bytes int64) string {
	if bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}

func seconds(d time.Duration) string {
	return fmt.Sprintf("%g s", d.Seconds())
}
