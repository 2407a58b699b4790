package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

// svgAttributes are the elements that a plot consists of, and what is kept of their
// attributes. Anything else in the plotting library's output is left out.
var svgAttributes = map[string][]string{
	"svg":  {"viewBox"},
	"g":    {"transform"},
	"path": {"d"},
	"text": {"x", "y", "transform"},
}

// svgClasses are the names of the colours of plots.
var svgClasses = map[string]string{
	"#010000": "ink", "#020000": "grid", "#030000": "one", "#040000": "limit", "#050000": "good", "#060000": "bad",
	"#070000": "bar",
}

// inlineSVG makes a document that a plotting library wrote a part of a page: no XML
// header, no sizes but the proportions, a title and a description for those who do not
// see it. Styles become attributes and classes, since the page's policy on content
// allows no style but its own sheet, which knows what is dark.
func inlineSVG(doc io.WriterTo, id, title, description string) (template.HTML, error) {
	var raw bytes.Buffer
	if _, err := doc.WriteTo(&raw); err != nil {
		return "", fmt.Errorf("draw %s: %w", title, err)
	}
	s := svg{id: id, title: title, description: description}
	d := xml.NewDecoder(&raw)
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return template.HTML(s.b.String()), nil
		}
		if err != nil {
			return "", fmt.Errorf("draw %s: %w", title, err)
		}
		s.token(t)
	}
}

// svg is a document being written anew.
type svg struct {
	b                      strings.Builder
	id, title, description string
	skipped                int // elements that are open and not wanted
}

func (s *svg) token(t xml.Token) {
	switch t := t.(type) {
	case xml.StartElement:
		if _, ok := svgAttributes[t.Name.Local]; s.skipped > 0 || !ok {
			s.skipped++
			return
		}
		s.start(t)
	case xml.EndElement:
		if s.skipped > 0 {
			s.skipped--
			return
		}
		s.b.WriteString("</" + t.Name.Local + ">")
	case xml.CharData:
		if s.skipped == 0 {
			s.text(strings.TrimSpace(string(t)))
		}
	}
}

func (s *svg) start(e xml.StartElement) {
	s.b.WriteString("<" + e.Name.Local)
	for _, a := range e.Attr {
		switch {
		case slices.Contains(svgAttributes[e.Name.Local], a.Name.Local):
			s.attribute(a.Name.Local, a.Value)
		case a.Name.Local == "style":
			s.style(a.Value)
		}
	}
	if e.Name.Local != "svg" {
		s.b.WriteString(">")
		return
	}
	s.attribute("role", "img")
	s.attribute("aria-labelledby", s.id+"-title")
	s.attribute("aria-describedby", s.id+"-desc")
	s.b.WriteString("><title")
	s.attribute("id", s.id+"-title")
	s.b.WriteString(">")
	s.text(s.title)
	s.b.WriteString("</title><desc")
	s.attribute("id", s.id+"-desc")
	s.b.WriteString(">")
	s.text(s.description)
	s.b.WriteString("</desc>")
}

// style writes CSS declarations as attributes, and colours as classes: "f-ink" is
// filled with ink, "s-ink" drawn with it.
func (s *svg) style(css string) {
	var classes []string
	for declaration := range strings.SplitSeq(css, ";") {
		key, value, _ := strings.Cut(declaration, ":")
		class, named := svgClasses[strings.ToLower(value)]
		switch {
		case named:
			classes = append(classes, key[:1]+"-"+class)
		case slices.Contains([]string{"fill", "stroke-width", "stroke-dasharray", "font-size"}, key):
			s.attribute(key, value)
		}
	}
	if len(classes) > 0 {
		s.attribute("class", strings.Join(classes, " "))
	}
}

func (s *svg) attribute(name, value string) {
	s.b.WriteString(" " + name + `="`)
	s.text(value)
	s.b.WriteString(`"`)
}

// text writes escaped text. A strings.Builder takes everything.
func (s *svg) text(value string) { template.HTMLEscape(&s.b, []byte(value)) }
