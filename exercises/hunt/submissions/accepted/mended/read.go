package hunt

import (
	"bufio"
	"errors"
	"io"
	"regexp"
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
	in := bufio.NewReader(r)
	var examples []Example
	index := map[string]int{}
	for number := 1; ; number++ {
		line, failed := in.ReadString('\n')
		if failed != nil && failed != io.EOF {
			return nil, failed
		}
		e, ok, err := parse(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		if err != nil {
			return nil, &LineError{Line: number, Err: err}
		}
		if ok {
			examples = insert(examples, index, e)
		}
		if failed == io.EOF {
			return examples, nil
		}
	}
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

var labels = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// isLabel reports whether s is a letter, followed by letters, digits, _ and -.
func isLabel(s string) bool {
	return labels.MatchString(s)
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
	if strings.IndexFunc(word, func(c rune) bool { return 'A' <= c && c <= 'Z' }) < 0 {
		return word
	}
	b := []byte(word)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// insert adds an example, or counts the one that is equal to it.
func insert(examples []Example, index map[string]int, e Example) []Example {
	key := e.Label + "\t" + strings.Join(e.Words, " ")
	if i, ok := index[key]; ok {
		examples[i].Count++
		return examples
	}
	index[key] = len(examples)
	return append(examples, e)
}
