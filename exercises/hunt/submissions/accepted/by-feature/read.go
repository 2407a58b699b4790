// Package hunt keeps lists for features, and a heap for words.
package hunt

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

var (
	ErrTab   = errors.New("hunt: no tab")
	ErrLabel = errors.New("hunt: bad label")
)

// Example is a labelled text.
type Example struct {
	Label string
	Words []string
	Count int
}

// LineError is a line that is not an example.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprint("line ", e.Line, ": ", e.Err) }

// Unwrap returns what is wrong.
func (e *LineError) Unwrap() error { return e.Err }

// class says of each byte what it is.
var class [256]uint8

const (
	inLabel = 1 << iota
	firstOfLabel
	isMark
	isSpace
	isCapital
)

func init() {
	for b := range 256 {
		c := byte(b)
		set := func(bit uint8, in bool) {
			if in {
				class[b] |= bit
			}
		}
		set(firstOfLabel, c >= 'a' && c <= 'z')
		set(inLabel, c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-')
		set(isMark, bytes.IndexByte([]byte(`.,;:!?"'()`), c) >= 0)
		set(isSpace, c == ' ' || c == '\t')
		set(isCapital, c >= 'A' && c <= 'Z')
	}
}

// Read returns the different examples of a text.
func Read(r io.Reader) ([]Example, error) {
	in := bufio.NewReader(r)
	seen := map[string]int{}
	words := map[string]string{} // each word once in memory
	var list []Example
	var key []byte
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		line, _ = bytes.CutSuffix(line, []byte{'\n'})
		line, _ = bytes.CutSuffix(line, []byte{'\r'})
		var fault error
		if key, fault = normal(key[:0], line); fault != nil {
			return nil, &LineError{Line: n, Err: fault}
		}
		if i, ok := seen[string(key)]; ok {
			list[i].Count++
		} else if len(key) > 0 {
			seen[string(key)] = len(list)
			list = append(list, example(key, words))
		}
		if err == io.EOF {
			return list, nil
		}
	}
}

// normal appends what makes a line equal to another one: its label and words, each with a
// line end behind it. It appends nothing if the line says nothing.
func normal(key, line []byte) ([]byte, error) {
	rest := line
	for len(rest) > 0 && class[rest[0]]&isSpace != 0 {
		rest = rest[1:]
	}
	if len(rest) == 0 || line[0] == '#' {
		return key, nil
	}
	end := bytes.IndexByte(line, '\t')
	if end < 0 {
		return key, ErrTab
	}
	if end == 0 || class[line[0]]&firstOfLabel == 0 {
		return key, ErrLabel
	}
	for _, b := range line[:end] {
		if class[b]&inLabel == 0 {
			return key, ErrLabel
		}
	}
	key = append(append(key, line[:end]...), '\n')
	for i := end + 1; i < len(line); {
		j := i
		for j < len(line) && class[line[j]]&isSpace == 0 {
			j++
		}
		key = clean(key, line[i:j])
		i = j + 1
	}
	return key, nil
}

// clean appends a word without the marks at its ends, if something is left of it.
func clean(key, word []byte) []byte {
	for len(word) > 0 && class[word[0]]&isMark != 0 {
		word = word[1:]
	}
	for len(word) > 0 && class[word[len(word)-1]]&isMark != 0 {
		word = word[:len(word)-1]
	}
	if len(word) == 0 {
		return key
	}
	for _, b := range word {
		if class[b]&isCapital != 0 {
			b += 'a' - 'A'
		}
		key = append(key, b)
	}
	return append(key, '\n')
}

// example takes a key apart.
func example(key []byte, words map[string]string) Example {
	label, rest, _ := bytes.Cut(key, []byte{'\n'})
	e := Example{Label: string(label), Count: 1, Words: make([]string, 0, bytes.Count(rest, []byte{'\n'}))}
	for len(rest) > 0 {
		var word []byte
		word, rest, _ = bytes.Cut(rest, []byte{'\n'})
		w, ok := words[string(word)]
		if !ok {
			w = string(word)
			words[w] = w
		}
		e.Words = append(e.Words, w)
	}
	return e
}
