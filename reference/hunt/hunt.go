// Package hunt learns to tell texts apart: it reads labelled lines, counts their words,
// turns texts into vectors, and trains a softmax regression by mini-batches.
//
// All results are defined to the last bit: the README of the exercise says in which
// order numbers are added. Products are converted to float64 before they are added, so
// that no machine fuses the two into one rounding (The Go Programming Language
// Specification, "Floating-point operators").
package hunt

import "fmt"

// Example is a labelled text.
type Example struct {
	Label string
	Words []string
	Count int // how often the text had it
}

// Entry is a number of a vector that is not left out.
type Entry struct {
	Index int
	Value float64
}

// Vector has its entries by ascending index. What it leaves out is 0.
type Vector []Entry

// Sample is a vector with its class.
type Sample struct {
	X     Vector
	Class int
}

// Config says how to train.
type Config struct {
	Features int // indices of vectors are below it
	Classes  int
	Epochs   int
	Batch    int // samples of a step
	Rate     float64
	Seed     uint64
}

// Epoch is what an epoch of a training came to.
type Epoch struct {
	Loss     float64
	Accuracy float64
}

// LineError is a line that Read cannot read.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns ErrTab or ErrLabel.
func (e *LineError) Unwrap() error { return e.Err }
