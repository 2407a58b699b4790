package hunt

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
)

// What is wrong with a line, for errors.Is.
var (
	ErrTab   = errors.New("hunt: no tab")
	ErrLabel = errors.New("hunt: bad label")
)

// marks are taken off both ends of a word.
const marks = `.,;:!?"'()`

// Read returns the examples of a text, equal ones once.
func Read(r io.Reader) ([]Example, error) {
	data, failed := io.ReadAll(r)
	lines := strings.Split(string(data), "\n")
	if failed != nil {
		lines = lines[:len(lines)-1] // the last one is not whole
	}
	var examples []Example
	byLabel := map[string][]int{} // the examples of a label
	for i, line := range lines {
		e, ok, err := parse(strings.TrimSuffix(line, "\r"))
		if err != nil {
			return nil, &LineError{Line: i + 1, Err: err}
		}
		if ok {
			examples = insert(examples, byLabel, e)
		}
	}
	if failed != nil {
		return nil, failed
	}
	return examples, nil
}

// parse reads a line; ok is false if there is no example in it.
func parse(line string) (e Example, ok bool, err error) {
	if strings.Trim(line, " \t") == "" || strings.HasPrefix(line, "#") {
		return Example{}, false, nil
	}
	label, text, found := strings.Cut(line, "\t")
	if !found {
		return Example{}, false, ErrTab
	}
	if !isLabel(label) {
		return Example{}, false, ErrLabel
	}
	return Example{Label: label, Words: split(text), Count: 1}, true, nil
}

// isLabel reports whether s is a letter, followed by letters, digits, _ and -.
func isLabel(s string) bool {
	return regexp.MustCompile(`^[a-z][a-z0-9_-]*$`).MatchString(s)
}

// split returns the words of a text.
func split(text string) []string {
	words := []string{}
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '\t' }) {
		word = lower(strings.Trim(word, marks))
		if word != "" {
			words = append(words, word)
		}
	}
	return words
}

// lower makes small letters of A to Z, and leaves all other bytes as they are.
func lower(word string) string {
	b := []byte(word)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// insert adds an example, or counts the one that is equal to it.
func insert(examples []Example, byLabel map[string][]int, e Example) []Example {
	for _, i := range byLabel[e.Label] {
		if slices.Equal(examples[i].Words, e.Words) {
			examples[i].Count++
			return examples
		}
	}
	byLabel[e.Label] = append(byLabel[e.Label], len(examples))
	return append(examples, e)
}
