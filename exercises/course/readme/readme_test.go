package readme

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
)

func textOf(t *testing.T, readme string, pictures ...course.File) string {
	t.Helper()
	got, err := Text(&course.Exercise{Readme: []byte(readme), Pictures: pictures})
	require.NoError(t, err)
	return string(got)
}

// The title goes, because the page has it, and what is below it stays below the page's own.
func TestHeadings(t *testing.T) {
	assert.Equal(t, "<h3>Rules</h3>\n<h6>deep</h6>\n", textOf(t, "# Mean\n\n## Rules\n\n###### deep\n"))
	assert.Equal(t, "<p>no title</p>\n<h2>One</h2>\n", textOf(t, "no title\n\n# One\n"))
}

// The cells of a head say what they head, for those who hear a table.
func TestTable(t *testing.T) {
	got := textOf(t, "| check | points |\n|---|--:|\n| TestMean | 100 |\n")
	assert.Contains(t, got, `<th scope="col">check</th>`)
	assert.Contains(t, got, `<td>TestMean</td>`)
	assert.NotContains(t, got, "style=", "a site's policy forbids it")
}

// An exercise's text can bring no markup of its own, and no link that runs anything.
func TestNothingRuns(t *testing.T) {
	got := textOf(t, "# A\n\n<script>alert(1)</script>\n\n[here](javascript:alert(1)) <b onclick=x>b</b> ![p](x\" onerror=\"alert(1))\n")
	for _, bad := range []string{"<script", "javascript:", "onclick", "<img"} {
		assert.NotContains(t, got, bad)
	}
	assert.Contains(t, got, "here")
}

// A picture of the exercise stands in the text as data; of any other the words are left.
func TestPictures(t *testing.T) {
	one := course.File{Name: "shape.svg", Data: []byte("<svg/>")}
	assert.Equal(t, "<p><img src=\"data:image/svg+xml;base64,PHN2Zy8+\" alt=\"two &#34;rows&#34; &lt;and&gt; one \\*\"></p>\n",
		textOf(t, "![two \"rows\" \\<and&gt;\none `\\*`](./shape.svg)\n", one))
	assert.Equal(t, "<p>two <em>rows</em> far away</p>\n", textOf(t, "two *rows* ![far *away*](https://example.com/shape.svg)\n", one))
}

// A page is whole, and loads nothing.
func TestPage(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Page(&b, &course.Exercise{Title: "Mean & more", Readme: []byte("# Mean\n\ntext\n")}))
	got := b.String()
	assert.Contains(t, got, "<title>Mean &amp; more")
	assert.Contains(t, got, "<p>text</p>")
	assert.NotContains(t, got, "http:")
	assert.NotContains(t, got, "https:")
	assert.NotContains(t, got, "src=")
}
