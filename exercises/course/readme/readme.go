// Package readme writes the text of an exercise as HTML: [Text] for a page that has a frame of
// its own, [Page] as one file that loads nothing.
//
// The pictures that the text shows stand in it as data, so that it needs no other file and no
// address. A picture is an image to the browser, which runs no script in it.
package readme

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension"
	marks "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"grade/exercises/course"
)

// lowestHeading is the lowest level of headings that HTML has.
const lowestHeading = 6

// first is the priority of a renderer before goldmark's own.
const first = 100

var (
	//go:embed page.tmpl
	pageText string
	//go:embed page.css
	style string

	page = template.Must(template.New("page").Parse(pageText))
)

// Text formats the text of an exercise for a page that has its title already: that heading
// goes, and the others are below those of the page. Goldmark leaves out raw HTML and
// dangerous links unless it is told otherwise, and writes no style into an element, which
// a site's policy on content would forbid.
func Text(e *course.Exercise) (template.HTML, error) {
	md := goldmark.New(
		goldmark.WithExtensions(tables.NewTable(tables.WithTableCellAlignMethod(tables.TableCellAlignAttribute)), tables.Strikethrough),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(pictures(e.Pictures), first))),
	)
	doc := md.Parser().Parse(text.NewReader(e.Readme))
	if h, ok := doc.FirstChild().(*ast.Heading); ok && h.Level == 1 {
		doc.RemoveChild(doc, h)
	}
	err := ast.Walk(doc, fit)
	var b bytes.Buffer
	if err == nil {
		err = md.Renderer().Render(&b, e.Readme, doc)
	}
	if err != nil {
		return "", fmt.Errorf("format the text of an exercise: %w", err)
	}
	return template.HTML(b.String()), nil
}

// fit lowers a heading by a level, and says of the cells of a table's head what they head.
func fit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch n := n.(type) {
	case *ast.Heading:
		if entering {
			n.Level = min(n.Level+1, lowestHeading)
		}
	case *marks.TableCell:
		if _, ok := n.Parent().(*marks.TableHeader); ok {
			n.SetAttributeString("scope", []byte("col"))
		}
	}
	return ast.WalkContinue, nil
}

// Page writes the text of an exercise as a web page.
func Page(w io.Writer, e *course.Exercise) error {
	body, err := Text(e)
	if err != nil {
		return err
	}
	return page.Execute(w, struct {
		Title string
		Style template.CSS
		Body  template.HTML
	}{e.Title, template.CSS(style), body})
}
