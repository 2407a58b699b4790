// Package markdown formats a Markdown document for a terminal: it breaks paragraphs, lists,
// quotes and tables at the terminal's width and keeps the lines of code. It leaves nothing
// out, because it shows the rules that a student is graded by. It knows no files and no
// terminal; its caller passes the width and whether there are colours.
//
// The parser is goldmark. The usual renderers for terminals were rejected: they add ten
// megabytes of syntax highlighting and cut the cells of wide tables.
package markdown

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"grade/grader/report/terminal"
)

// Options say what the terminal can show.
type Options struct {
	Color bool
	Width int // columns; at least minWidth are used
}

// minWidth is what a deeply nested list or a table still has to itself.
const minWidth = 20

// Render returns source as lines of text, with a newline at its end.
func Render(source []byte, o Options) string {
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough))
	r := &renderer{Palette: terminal.NewPalette(o.Color), color: o.Color, source: source}
	doc := md.Parser().Parse(text.NewReader(source))
	return strings.Join(r.blocks(doc, o.Width, true), "\n") + "\n"
}

// renderer turns nodes into lines. A block is a list of lines without the indent
// of what it stands in, which its parent puts before them.
type renderer struct {
	terminal.Palette
	color  bool
	source []byte
}

// blocks renders the children of n, with an empty line between two of them if
// loose.
func (r *renderer) blocks(n ast.Node, width int, loose bool) []string {
	width = max(width, minWidth)
	var lines []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b := r.block(c, width)
		if len(b) == 0 {
			continue
		}
		if len(lines) > 0 && loose {
			lines = append(lines, "")
		}
		lines = append(lines, b...)
	}
	return lines
}

func (r *renderer) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return r.heading(n, width)
	case *ast.List:
		return r.list(n, width)
	case *ast.Blockquote:
		return indent(r.blocks(n, width-2, true), r.Dim("│ "), r.Dim("│ "))
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return r.code(n)
	case *ast.ThematicBreak:
		return []string{r.Dim(strings.Repeat("─", width))}
	case *ast.HTMLBlock:
		return r.html(n)
	case *east.Table:
		return r.table(n, width)
	}
	if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeBlock {
		return r.blocks(n, width, true)
	}
	return r.wrap(r.inlines(n), width)
}

// heading is bold; without colours its number signs say what it is.
func (r *renderer) heading(n *ast.Heading, width int) []string {
	s := r.inlines(n)
	switch {
	case !r.color:
		s = strings.Repeat("#", n.Level) + " " + s
	case n.Level == 1:
		s = r.Bold(r.Underline(s))
	default:
		s = r.Bold(s)
	}
	return r.wrap(s, width)
}

func (r *renderer) list(n *ast.List, width int) []string {
	var lines []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		w := terminal.Width(mark)
		if len(lines) > 0 && !n.IsTight {
			lines = append(lines, "")
		}
		lines = append(lines, indent(r.blocks(item, width-w, !n.IsTight), mark, strings.Repeat(" ", w))...)
	}
	return lines
}

// code is indented and never broken: a line that is too long is the terminal's to
// break, so that it can be copied.
func (r *renderer) code(n ast.Node) []string {
	return indent(r.raw(n, r.Cyan), "    ", "    ")
}

// html is shown as it is written, but for comments, which are not for readers.
func (r *renderer) html(n *ast.HTMLBlock) []string {
	if n.HTMLBlockType == ast.HTMLBlockType2 {
		return nil
	}
	return r.raw(n, r.Dim)
}

// raw returns the source lines of n, styled.
func (r *renderer) raw(n ast.Node, style func(string) string) []string {
	var lines []string
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		for _, l := range plain(string(seg.Value(r.source))) {
			lines = append(lines, style(l))
		}
	}
	return lines
}

// wrap breaks s at its hard line breaks and at the width.
func (r *renderer) wrap(s string, width int) []string {
	var lines []string
	for l := range strings.SplitSeq(s, "\n") {
		lines = append(lines, terminal.Wrap(l, width)...)
	}
	return lines
}

// plain makes text lines without control characters and tabs.
func plain(s string) []string {
	s = strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\t", strings.Repeat(" ", terminal.TabWidth))
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = terminal.Escape(l)
	}
	return lines
}

// indent puts first before the first line and rest before the others.
func indent(lines []string, first, rest string) []string {
	for i, l := range lines {
		if i > 0 {
			first = rest
		}
		lines[i] = strings.TrimRight(first+l, " ")
	}
	return lines
}
