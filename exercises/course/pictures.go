package course

import (
	"bytes"
	"io/fs"
	"path"
	"regexp"
	"slices"

	"grade/exercises/course/document"
)

// pictureTypes are the extensions of the pictures that a README may show.
var pictureTypes = []string{".svg", ".png"}

// readPictures reads the pictures that lie beside the README. What is wrong with the folder
// is found with its other files.
func (c *Course) readPictures(e *Exercise, p *document.Faults) {
	dir := path.Join(ExercisesDir, e.Name)
	entries, _ := fs.ReadDir(c.fsys, dir)
	for _, entry := range entries {
		if !slices.Contains(pictureTypes, path.Ext(entry.Name())) {
			continue
		}
		data, err := fs.ReadFile(c.fsys, path.Join(dir, entry.Name()))
		if err != nil {
			p.Add(entry.Name(), 0, "%w", Reason(err))
		}
		e.Pictures = append(e.Pictures, File{entry.Name(), data})
	}
}

// image is a picture that a text shows.
type image struct {
	file string
	line int
}

var imageLink = regexp.MustCompile(`!\[[^\]]*\]\(([^)\s]+)[^)]*\)`)

// images returns the pictures that a README shows, which are not those in its blocks of code.
func images(readme []byte) (list []image) {
	prose := withoutBlocks(readme)
	for _, m := range imageLink.FindAllSubmatchIndex(prose, -1) {
		line := 1 + bytes.Count(prose[:m[2]], []byte("\n"))
		list = append(list, image{path.Clean(string(prose[m[2]:m[3]])), line})
	}
	return list
}

// withoutBlocks empties the lines of a README's blocks of code.
func withoutBlocks(readme []byte) []byte {
	var prose bytes.Buffer
	fenced := false
	for l := range bytes.Lines(readme) {
		if bytes.HasPrefix(bytes.TrimSpace(l), fence) {
			fenced, l = !fenced, []byte("\n")
		}
		if fenced {
			l = []byte("\n")
		}
		prose.Write(l)
	}
	return prose.Bytes()
}
