package progress

import (
	"fmt"
	"strings"
	"time"

	"grade/grader/batch"
)

// OfBatch describes the progress of a batch, the most important first, because a terminal
// may lack room: done and total, the time left, and the students being graded. It is empty
// when all is done.
func OfBatch(e batch.Event) string {
	if e.Done == e.Total {
		return ""
	}
	words := []string{fmt.Sprintf("%d of %d", e.Done, e.Total)}
	if e.Left > 0 {
		words = append(words, roughly(e.Left)+" left")
	}
	for _, g := range e.Grading {
		words = append(words, g.Student+" "+g.Exercise)
	}
	return strings.Join(words, ", ")
}

// roughly rounds an estimate to its precision.
func roughly(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "some seconds"
	case d < 100*time.Second:
		return fmt.Sprintf("about %d s", d.Round(10*time.Second)/time.Second)
	case d < 100*time.Minute:
		return fmt.Sprintf("about %d min", d.Round(time.Minute)/time.Minute)
	}
	return fmt.Sprintf("about %d h", d.Round(time.Hour)/time.Hour)
}
