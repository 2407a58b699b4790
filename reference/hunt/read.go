package hunt

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// What is wrong with a line, for errors.Is.
var (
	ErrTab   = errors.New("hunt: no tab")
	ErrLabel = errors.New("hunt: bad label")
)

// marks are taken off both ends of a word.
const marks = `.,;:!?"'()`

// Read returns the examples of a text, equal ones once. It holds one line of the text at
// a time.
func Read(r io.Reader) ([]Example, error) {
	in := liner{r: bufio.NewReaderSize(r, 64<<10)}
	c := collector{index: map[string]int{}}
	for n := 1; ; n++ {
		line, err := in.next()
		if err != nil && err != io.EOF {
			return nil, err // what there is of the line is not looked at
		}
		if bad := c.add(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))); bad != nil {
			return nil, &LineError{n, bad}
		}
		if err == io.EOF {
			return c.examples, nil
		}
	}
}

// liner reads lines of any length.
type liner struct {
	r    *bufio.Reader
	long []byte
}

// next returns the next line with its end. It is valid until the next call. The error is
// that of the reader, with what there is of a last line.
func (l *liner) next() ([]byte, error) {
	part, err := l.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, err
	}
	l.long = l.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long, part...)
		part, err = l.r.ReadSlice('\n')
	}
	l.long = append(l.long, part...)
	return l.long, err
}

// collector gathers examples.
type collector struct {
	examples []Example
	index    map[string]int // of an example, by its key
	key      []byte         // of the line at hand: label and words, with tabs between them
}

// add adds the example of a line, or counts it once more.
func (c *collector) add(line []byte) error {
	if len(bytes.Trim(line, " \t")) == 0 || line[0] == '#' {
		return nil
	}
	label, text, found := bytes.Cut(line, []byte("\t"))
	if !found {
		return ErrTab
	}
	if !isLabel(label) {
		return ErrLabel
	}
	c.key = appendWords(append(c.key[:0], label...), text)
	i, ok := c.index[string(c.key)]
	if !ok {
		i = len(c.examples)
		c.examples = append(c.examples, c.example())
	}
	c.examples[i].Count++
	return nil
}

// example makes an example of the key. Its strings are parts of one, which has nothing
// that is not theirs.
func (c *collector) example() Example {
	key := string(c.key)
	c.index[key] = len(c.examples)
	parts := strings.Split(key, "\t")
	return Example{Label: parts[0], Words: parts[1:]}
}

// isLabel reports whether b is a letter, followed by letters, digits, _ and -.
func isLabel(b []byte) bool {
	for i, c := range b {
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || c != '_' && c != '-' && (c < '0' || '9' < c)) {
			return false
		}
	}
	return len(b) > 0
}

// appendWords appends the words of a text to key, each with a tab before it.
func appendWords(key, text []byte) []byte {
	for word := range bytes.FieldsFuncSeq(text, isBlank) {
		if word = bytes.Trim(word, marks); len(word) > 0 {
			key = appendLower(append(key, '\t'), word)
		}
	}
	return key
}

func isBlank(c rune) bool { return c == ' ' || c == '\t' }

// appendLower makes small letters of A to Z, and leaves all other bytes, which
// bytes.ToLower would not.
func appendLower(key, word []byte) []byte {
	for _, c := range word {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		key = append(key, c)
	}
	return key
}
