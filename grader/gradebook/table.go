package gradebook

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// lineError is an error at a line of a file, from 1.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

func (e *lineError) Unwrap() error { return e.err }

func atLine(n int, format string, args ...any) error {
	return &lineError{n, fmt.Errorf(format, args...)}
}

// inFile names the file that an error is about, and its line as compilers do, which editors
// find: file:line.
func inFile(file string, err error) error {
	var syntax *csv.ParseError
	var at *lineError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("%s:%d: %w", file, syntax.Line, syntax.Err)
	case errors.As(err, &at):
		return fmt.Errorf("%s:%d: %w", file, at.line, at.err)
	}
	return fmt.Errorf("%s: %w", file, err)
}

// readTable reads a CSV file whose first row names its columns, and calls take for each
// of the others, with its line and the values by those names in lower case. Errors name the line.
func readTable(r io.Reader, required []string, take func(line int, row map[string]string) error) error {
	c, err := tableRows(r)
	if err != nil {
		return err
	}
	header, err := c.Read()
	if err != nil {
		return atLine(1, "want a row that names the columns %s: %w", strings.Join(required, ", "), err)
	}
	for i := range header {
		header[i] = strings.ToLower(strings.TrimSpace(header[i]))
	}
	for _, name := range required {
		if !slices.Contains(header, name) {
			return atLine(1, "there is no column %q; there must be %s", name, strings.Join(required, ", "))
		}
	}
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err // names the line
		}
		row := map[string]string{}
		for i, value := range record {
			row[header[i]] = strings.TrimSpace(value)
		}
		line, _ := c.FieldPos(0)
		if err := take(line, row); err != nil {
			return &lineError{line, err}
		}
	}
}

// tableRows returns a reader of a CSV file's rows. It accepts semicolons as separators and
// a byte order mark, because some programs, and Canvas on request, write them.
func tableRows(r io.Reader) (*csv.Reader, error) {
	b := bufio.NewReader(r)
	const most = 4096 // as much as a bufio.Reader has
	start, err := b.Peek(most)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if mark := []byte("\ufeff"); bytes.HasPrefix(start, mark) {
		if _, err := b.Discard(len(mark)); err != nil {
			return nil, err
		}
	}
	rows := csv.NewReader(b)
	rows.TrimLeadingSpace = true
	if header, _, _ := bytes.Cut(start, []byte("\n")); bytes.Count(header, []byte(";")) > bytes.Count(header, []byte(",")) {
		rows.Comma = ';'
	}
	return rows, nil
}
