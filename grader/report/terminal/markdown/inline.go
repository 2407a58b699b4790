package markdown

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"grade/grader/report/terminal"
)

// inlines renders what stands in a paragraph as one string; a newline in it is a
// hard line break.
func (r *renderer) inlines(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b.WriteString(r.inline(c))
	}
	return b.String()
}

func (r *renderer) inline(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Text:
		return r.text(n)
	case *ast.String:
		return words(n.Value)
	case *ast.CodeSpan:
		return r.codeSpan(n)
	case *ast.Emphasis:
		return r.emphasis(n)
	case *ast.Link:
		return r.link(r.inlines(n), words(n.Destination))
	case *ast.AutoLink:
		return r.Underline(words(n.Label(r.source)))
	case *ast.Image:
		return r.link("image: "+r.inlines(n), words(n.Destination))
	case *ast.RawHTML:
		return r.rawHTML(n)
	case *east.Strikethrough:
		return "~~" + r.inlines(n) + "~~"
	}
	return r.inlines(n)
}

func (r *renderer) text(n *ast.Text) string {
	s := words(n.Value(r.source))
	switch {
	case n.HardLineBreak():
		return s + "\n"
	case n.SoftLineBreak():
		return s + " "
	}
	return s
}

// words makes text one line, its entities resolved.
func words(b []byte) string {
	return strings.Join(plain(html.UnescapeString(string(b))), " ")
}

// codeSpan keeps its marks where there is no colour to tell it by. Entities in it
// are text.
func (r *renderer) codeSpan(n *ast.CodeSpan) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.WriteString(strings.Join(plain(string(t.Value(r.source))), " "))
		}
	}
	if !r.color {
		return "`" + b.String() + "`"
	}
	return r.Cyan(b.String())
}

func (r *renderer) emphasis(n *ast.Emphasis) string {
	mark, style := "*", r.Italic
	if n.Level > 1 {
		mark, style = "**", r.Bold
	}
	if !r.color {
		return mark + r.inlines(n) + mark
	}
	return style(r.inlines(n))
}

// link says where it leads, unless its text does.
func (r *renderer) link(label, destination string) string {
	if label == destination || destination == "" {
		return r.Underline(label)
	}
	return r.Underline(label) + " (" + destination + ")"
}

// rawHTML knows the line break that tables are written with, and drops comments.
func (r *renderer) rawHTML(n *ast.RawHTML) string {
	var b strings.Builder
	for i := range n.Segments.Len() {
		seg := n.Segments.At(i)
		b.Write(seg.Value(r.source))
	}
	s := b.String()
	switch {
	case strings.HasPrefix(s, "<!--"):
		return ""
	case strings.HasPrefix(strings.ToLower(s), "<br"):
		return "\n"
	}
	return r.Dim(terminal.Escape(s))
}
