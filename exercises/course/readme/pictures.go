package readme

import (
	"encoding/base64"
	"html"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
	marks "github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"grade/exercises/course"
)

// mediaTypes are those of the pictures that an exercise may show, by their extensions.
var mediaTypes = map[string]string{".svg": "image/svg+xml", ".png": "image/png"}

// pictures renders images out of the files of an exercise. Of an image that is not among them
// the words are left: a page loads nothing.
type pictures []course.File

// RegisterFuncs implements goldmark's renderer.NodeRenderer.
func (p pictures) RegisterFuncs(r marks.NodeRendererFuncRegisterer) {
	r.Register(ast.KindImage, p.image)
}

func (p pictures) image(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	said := html.EscapeString(words(n, source))
	out := said
	if data := p.find(path.Clean(string(n.(*ast.Image).Destination))); data != "" {
		out = `<img src="` + data + `" alt="` + said + `">`
	}
	_, err := w.WriteString(out)
	return ast.WalkSkipChildren, err
}

// find returns a picture as an address that holds it, or "".
func (p pictures) find(name string) string {
	for _, f := range p {
		if f.Name == name {
			return "data:" + mediaTypes[path.Ext(name)] + ";base64," + base64.StdEncoding.EncodeToString(f.Data)
		}
	}
	return ""
}

// words returns the text below a node: what is said of a picture to those who do not see it.
func words(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.WriteString(plain(n, t.Value(source)))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
			continue
		}
		b.WriteString(words(c, source))
	}
	return b.String()
}

// plain returns text without the escapes that it may be written with, of which code has none.
func plain(in ast.Node, value []byte) string {
	if _, ok := in.(*ast.CodeSpan); ok {
		return string(value)
	}
	return html.UnescapeString(string(util.UnescapePunctuations(value)))
}
