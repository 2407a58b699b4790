package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"

	"grade/grader/verdict"
)

// ResultSchema is the JSON Schema (2020-12) of what [JSON] writes, with a
// description of every field.
//
//go:embed schema.json
var ResultSchema []byte

// JSON writes r as one indented JSON document with a newline at its end, valid
// against [ResultSchema]. Every field is present: lists are empty, never null, and
// null stands only for a ratio, limit or interval that was not measured.
//
// The document may be printed on a terminal or into the log of a CI as it is:
// characters that are not printable stand as \u escapes, and so does a "[" after
// "##", which a GitHub runner would take for a command.
func JSON(w io.Writer, r *verdict.Result) error {
	return PlainJSON(w, withoutNulls(*r))
}

// PlainJSON writes any value as [JSON] writes a result: an indented document that may be
// printed anywhere.
func PlainJSON(w io.Writer, v any) error {
	doc, err := encodeJSON(v, false) // & and < are read by people here, not by browsers
	if err == nil {
		_, err = w.Write(doc)
	}
	if err != nil {
		return fmt.Errorf("write result as JSON: %w", err)
	}
	return nil
}

// writeJSON writes a document for another program, which may well put it into a
// page: <, > and & stand as escapes.
func writeJSON(w io.Writer, v any) error {
	doc, err := encodeJSON(v, true)
	if err != nil {
		return err
	}
	_, err = w.Write(doc)
	return err
}

func encodeJSON(v any, escapeHTML bool) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return escapeJSON(b.Bytes()), nil
}

// withoutNulls makes nil slices empty ones.
func withoutNulls(r verdict.Result) verdict.Result {
	r.Checks = orEmpty(r.Checks)
	r.Problems = orEmpty(r.Problems)
	r.Warnings = orEmpty(r.Warnings)
	r.Submission.Files = orEmpty(r.Submission.Files)
	r.Submission.Ignored = orEmpty(r.Submission.Ignored)
	return r
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// escapeJSON replaces what is not printable in an encoded document. The encoder
// writes control characters below U+0020 as escapes already, so that a newline
// stands outside of strings only, and everything else found here inside of one.
func escapeJSON(doc []byte) []byte {
	var b []byte
	for _, r := range string(doc) {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			b = append(b, string(r)...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, hi, lo)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return bytes.ReplaceAll(b, []byte("##["), []byte(`##\u005b`))
}
