package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// File is a YAML file that is read node by node. Decoding into a struct was rejected:
// it loses the lines that later faults need, words unknown and repeated fields in its
// own way, and accepts 42 as a text.
type File struct {
	*Faults
	Name string
}

// Fields maps the fields of a mapping to setters of their values. Mapping reports a
// setter's error with the field's name and line.
type Fields map[string]func(*yaml.Node) error

var yamlError = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

// parsers are the messages whose lines yaml.v3 counts from 0; those of its scanner count from 1.
var parsers = regexp.MustCompile(`^did not find expected (',' or '[\]}]'|'-' indicator|<.*>|key|node content)$|^found (duplicate %|incompatible YAML|undefined tag)`)

// quoted adds what to do to errors of the parser about prose without quotes.
var quoted = map[string]string{
	"mapping values are not allowed in this context":        `: put a text with a ": " in it in quotes`,
	"did not find expected alphabetic or numeric character": `: put a text that begins with a * or & in quotes`,
	"found character that cannot start any token":           `: indent with blanks and not with tabs, and put a text that begins with a @, % or backquote in quotes`,
}

// Read reads data, which must hold one mapping, and returns what Mapping returns.
func (d File) Read(data []byte, f Fields) map[string]int {
	var root, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	err := dec.Decode(&root)
	if err == nil && dec.Decode(&more) != io.EOF {
		d.Add(d.Name, more.Line, "the file holds a second document; remove it")
	}
	if errors.Is(err, io.EOF) {
		d.Add(d.Name, 0, "the file is empty")
		return nil
	}
	if err != nil {
		d.unreadable(err)
		return nil
	}
	return d.Mapping("", root.Content[0], f)
}

// unreadable reports an error of the parser, which states no line if that is the first.
func (d File) unreadable(err error) {
	line, message := 0, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlError.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = m[2]
		if parsers.MatchString(message) {
			line++
		}
	}
	hint := quoted[message]
	if hint != "" {
		line = max(line, 1)
	}
	d.Add(d.Name, line, "%s%s", message, hint)
}

// Mapping reads the mapping n and returns the lines of its fields; faults begin with
// what. The line of a field whose value it cannot read is negative, so that the caller
// does not report the value again. It returns nil if n is no mapping.
func (d File) Mapping(what string, n *yaml.Node, f Fields) map[string]int {
	lines := map[string]int{}
	if n.Kind != yaml.MappingNode {
		d.Add(d.Name, n.Line, "%swant fields, not %s", what, Show(n))
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		set, known := f[key.Value]
		switch {
		case !known:
			d.Add(d.Name, key.Line, "unknown field %q%s", key.Value, DidYouMean(key.Value, slices.Collect(maps.Keys(f))))
			continue
		case lines[key.Value] != 0:
			d.Add(d.Name, key.Line, "field %q appears twice", key.Value)
			continue
		}
		lines[key.Value] = key.Line
		if err := set(value); err != nil {
			d.Add(d.Name, value.Line, "%s: %w", key.Value, err)
			lines[key.Value] = -key.Line
		}
	}
	return lines
}

// Show describes a node in a fault.
func Show(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "fields"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	if n.ShortTag() == "!!null" {
		return "nothing"
	}
	return strconv.Quote(n.Value)
}

// Scalar returns the setter of a field that holds one value with a YAML tag.
func Scalar(tag, want string, set func(s string) error) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind == yaml.ScalarNode && n.ShortTag() == tag && set(n.Value) == nil {
			return nil
		}
		return fmt.Errorf("want %s, not %s", want, Show(n))
	}
}

// ErrUnfit refuses a value. It is never shown, because Scalar says what is wanted.
var ErrUnfit = errors.New("unfit")

// Line sets a text of one line, without the space around it.
func Line(p *string) func(*yaml.Node) error {
	return Scalar("!!str", "a line of text", func(s string) error {
		*p = strings.TrimSpace(s)
		if *p == "" || strings.ContainsAny(*p, "\n\r") {
			return ErrUnfit
		}
		return nil
	})
}

// Whole sets a whole number.
func Whole(p *int) func(*yaml.Node) error {
	return Scalar("!!int", "a whole number", func(s string) (err error) {
		*p, err = strconv.Atoi(s)
		return err
	})
}

// Truth sets true or false.
func Truth(p *bool) func(*yaml.Node) error {
	return Scalar("!!bool", "true or false", func(s string) (err error) {
		*p, err = strconv.ParseBool(strings.ToLower(s))
		return err
	})
}

// Number sets a finite number.
func Number(p *float64) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		x, err := strconv.ParseFloat(n.Value, 64)
		if tag := n.ShortTag(); n.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" ||
			err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return fmt.Errorf("want a number, not %s", Show(n))
		}
		*p = x
		return nil
	}
}

// OneOf sets one of the allowed texts.
func OneOf[T ~string](p *T, allowed ...T) func(*yaml.Node) error {
	var want []string
	for _, a := range allowed {
		want = append(want, string(a))
	}
	return Scalar("!!str", strings.Join(want, " or "), func(s string) error {
		for _, a := range allowed {
			if T(s) == a {
				*p = a
				return nil
			}
		}
		return ErrUnfit
	})
}

// List sets a list of different texts.
func List(p *[]string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.SequenceNode {
			return fmt.Errorf("want a list, not %s", Show(n))
		}
		seen := map[string]bool{}
		for _, e := range n.Content {
			var s string
			if err := Line(&s)(e); err != nil {
				return err
			}
			if seen[s] {
				return fmt.Errorf("%q appears twice", s)
			}
			seen[s] = true
			*p = append(*p, s)
		}
		return nil
	}
}

// Duration sets a positive duration.
func Duration(p *time.Duration) func(*yaml.Node) error {
	return Scalar("!!str", "a duration such as 10s or 24h", func(s string) (err error) {
		*p, err = time.ParseDuration(s)
		if err == nil && *p <= 0 {
			err = ErrUnfit
		}
		return err
	})
}

// Size sets a number of bytes, as parseSize reads it.
func Size(p *int64) func(*yaml.Node) error {
	return Scalar("!!str", "a size such as 512MiB", func(s string) (err error) {
		*p, err = parseSize(s)
		return err
	})
}

// parseSize reads a positive number of bytes with a unit of B, KiB, MiB or GiB.
// It refuses MB and the like, which stand for 1000 or for 1024 times as much.
func parseSize(s string) (int64, error) {
	for i, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		digits, ok := strings.CutSuffix(s, unit)
		if !ok || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64>>(10*i) {
			return 0, ErrUnfit
		}
		return n << (10 * i), nil
	}
	return 0, ErrUnfit
}
