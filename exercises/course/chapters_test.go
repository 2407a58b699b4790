package course

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const chaptersText = `chapters:
  - title: Turning
    exercises:
      - {name: levers, difficulty: easy, hours: 1.5}
      - {name: gears, difficulty: hard, after: [levers]}
  - title: Lifting
    exercises: []
`

// chaptersOf returns the chapters of a course with three exercises; an empty text is no file.
func chaptersOf(text string) ([]Chapter, error) {
	fsys := fstest.MapFS{}
	for _, name := range []string{"gears", "levers", "screws"} {
		fsys["exercises/"+name+"/exercise.yaml"] = &fstest.MapFile{}
	}
	if text != "" {
		fsys["exercises/chapters.yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	return Open(fsys).Chapters()
}

func TestChapters(t *testing.T) {
	list, err := chaptersOf(chaptersText)
	require.NoError(t, err)
	assert.Equal(t, []Chapter{
		{Title: "Turning", Entries: []Entry{
			{Name: "levers", Difficulty: Easy, Hours: 1.5},
			{Name: "gears", Difficulty: Hard, After: []string{"levers"}},
		}},
		{Title: "Lifting"},
		{Entries: []Entry{{Name: "screws"}}},
	}, list)

	list, err = chaptersOf("")
	require.NoError(t, err)
	assert.Equal(t, []Chapter{{Entries: []Entry{{Name: "gears"}, {Name: "levers"}, {Name: "screws"}}}}, list)
}

// A fault names its line, and all exercises are listed all the same.
func TestChapterFaults(t *testing.T) {
	one := func(entry string) string {
		return "chapters:\n  - title: Turning\n    exercises:\n      - " + entry + "\n"
	}
	for text, want := range map[string]string{
		"chapters: Turning\n":                                         `chapters.yaml:1: chapters: want a list, not "Turning"`,
		"chapters: [Turning]\n":                                       `chapters.yaml:1: chapters: want fields, not "Turning"`,
		"chapters: [{title: Turning}]\n":                              `chapters.yaml:1: field "exercises" is missing`,
		"chapters: [{exercises: []}]\n":                               `chapters.yaml:1: field "title" is missing`,
		"parts: []\n":                                                 `chapters.yaml:1: unknown field "parts"`,
		one("{hours: 1}"):                                             `chapters.yaml:4: field "name" is missing`,
		one("{name: wheels}"):                                         `chapters.yaml:4: there is no exercise "wheels"; the course has gears, levers, screws`,
		one("{name: gears, hours: 0}"):                                `chapters.yaml:4: hours: want a number of hours above 0, not "0"`,
		one("{name: gears, hours: long}"):                             `chapters.yaml:4: hours: want a number of hours above 0, not "long"`,
		one("{name: gears, difficulty: impossible}"):                  `chapters.yaml:4: difficulty: want easy or medium or hard, not "impossible"`,
		one("{name: gears, after: [screws]}"):                         `chapters.yaml:4: gears: after: no chapter has an exercise "screws"`,
		one("{name: gears, after: [gears]}"):                          `chapters.yaml:4: gears: after: it cannot come before itself`,
		one("{name: gears}\n      - {name: gears}"):                   `chapters.yaml:5: exercise "gears" stands in line 4 already`,
		one("{name: gears, after: [levers]}\n      - {name: levers}"): `chapters.yaml:4: gears: after: levers stands further down, in line 5: what comes before stands above`,
	} {
		list, err := chaptersOf(text)
		require.ErrorContains(t, err, "exercises/"+want, text)
		assert.NotEmpty(t, list, text)
	}
}
