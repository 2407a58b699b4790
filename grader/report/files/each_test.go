package files

import (
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/gradebook"
	"grade/grader/verdict"
)

// full is a result with all points.
var full = &verdict.Result{Schema: verdict.Schema, Exercise: "ring", Verdict: verdict.Graded, Score: 100, MaxScore: 100}

// content is what is in a file.
func content(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(b)
}

// pagesOf writes a page for each of some students, into files of that name.
func pagesOf(t *testing.T, file string, students ...string) error {
	t.Helper()
	var attempts []gradebook.Attempt
	for _, s := range students {
		attempts = append(attempts, gradebook.Attempt{Student: s, Exercise: "gears", Number: 1, Result: full})
	}
	var targets Targets
	require.NoError(t, targets.Add("text="+file, OfMany))
	return targets.WriteCourse(nil, gradebook.New(course.NewPolicy(), []string{"gears"}, attempts, nil))
}

// A checkout may hold links where reports are to be written: none is written through, and
// the others are written.
func TestNoReportGoesThroughALink(t *testing.T) {
	for name, file := range map[string]string{
		"folders":       "pages/{student}/{exercise}.txt",
		"files":         "pages/{exercise}/{student}.txt",
		"one name":      "pages/of-{student}-{exercise}.txt",
		"back and up":   "pages/{student}/../of-{student}-{exercise}.txt",
		"a folder more": "pages/{student}/x/{exercise}.txt",
	} {
		t.Run(name, func(t *testing.T) {
			dir, outside := t.TempDir(), t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(outside, "gears.txt"), []byte("old"), 0o666))
			for _, folder := range []string{"gears", "bo", "dora"} {
				require.NoError(t, os.MkdirAll(filepath.Join(dir, "pages", folder), 0o777))
			}
			for link, to := range map[string]string{
				"ada": outside, "cem": "bo", "dora/x": outside, // folders
				"gears/ada.txt": filepath.Join(outside, "gears.txt"), "gears/cem.txt": "bo.txt", "gears/dora.txt": "../bo",
				"of-ada-gears.txt": filepath.Join(outside, "gears.txt"), "of-cem-gears.txt": "of-bo-gears.txt", "of-dora-gears.txt": "nowhere",
			} {
				require.NoError(t, os.Symlink(to, filepath.Join(dir, "pages", link)))
			}
			err := pagesOf(t, filepath.Join(dir, file), "ada", "bo", "cem")
			require.ErrorContains(t, err, "is a link, which is not followed")
			for _, who := range []string{"ada", "cem"} {
				assert.ErrorContains(t, err, who)
			}
			assert.NotContains(t, err.Error(), "bo-")
			assert.Equal(t, "old", content(t, filepath.Join(outside, "gears.txt")))
			left, err := os.ReadDir(outside)
			require.NoError(t, err)
			assert.Len(t, left, 1)
			written := strings.NewReplacer("{student}/../", "", "{student}", "bo", "{exercise}", "gears").Replace(file)
			assert.Contains(t, content(t, filepath.Join(dir, written)), "100 of 100")
		})
	}
}

func TestSplitEach(t *testing.T) {
	for file, want := range map[string][2]string{
		"pages/{student}/{exercise}.html": {"pages", "{student}/{exercise}.html"}, "{student}-{exercise}": {".", "{student}-{exercise}"},
		"/p/of-{exercise}/{student}": {"/p", "of-{exercise}/{student}"}, "/{student}{exercise}": {"/", "{student}{exercise}"}, "a{b}/{student}{exercise}": {"a{b}", "{student}{exercise}"},
	} {
		dir, pattern := splitEach(file)
		assert.Equal(t, want, [2]string{filepath.ToSlash(dir), filepath.ToSlash(pattern)})
	}
}

// Each name of a student's folder has a file name, which no other name has.
func TestFileNames(t *testing.T) {
	long := strings.Repeat("long", 60)
	names := []string{"ada", ".", "..", "...", "a/b", "a%2Fb", "%2E", strings.Repeat("ü", 100), strings.Repeat("ü", 99) + "ö", long, long + "x", strings.Repeat("\n", 255), fileName(long)}
	seen := map[string]string{}
	for _, s := range names {
		n := fileName(s)
		assert.Empty(t, seen[n], "%q is called as another", s)
		seen[n] = s
		assert.LessOrEqual(t, len(n), longestName)
		assert.True(t, filepath.IsLocal(n) && !strings.ContainsAny(n, `/\`), n)
	}
	for name, want := range map[string]string{
		"Jörg Müller": "Jörg Müller", "Ångström": "Ångström", "Ирина": "Ирина", " x ": "%20x%20", " ": "%20",
		"Jo\u0308rg": "Jo%CC%88rg", "Weiß": "Wei%C3%9F", "\u212bsa": "%E2%84%ABsa", "a\xffb": "a%FFb", "a/ö": "a%2Fö",
	} {
		assert.Equal(t, want, fileName(name), "other systems take some of these for one name")
	}
	dir := t.TempDir()
	require.NoError(t, pagesOf(t, filepath.Join(dir, "{student}", "of-{student}-{exercise}.txt"), names...))
	files, err := filepath.Glob(filepath.Join(dir, "*", "of-*-gears.txt"))
	require.NoError(t, err)
	assert.Len(t, files, len(names))
}

// A course's page links the files that are written beside it, whatever a student is called.
func TestCourseLinksTheFilesBesideIt(t *testing.T) {
	policy := course.NewPolicy()
	for course, pages := range map[string]string{
		"course.html": "pages/{student}/{exercise}.html", "out/course.html": "pages/of {student}?{exercise}#.html", "pages/course.html": "pages/{exercise}-{student}.html",
	} {
		dir := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(course)), 0o777))
		var attempts []gradebook.Attempt
		names := []string{"ada", "a/b", "..", "javascript:x", "100 %", "王小明"}
		for _, s := range names {
			attempts = append(attempts, gradebook.Attempt{Student: s, Exercise: "gears", Number: 1, Result: full})
		}
		var targets Targets
		require.NoError(t, targets.Add("html="+filepath.Join(dir, course), OfMany))
		require.NoError(t, targets.Add("html="+filepath.Join(dir, pages), OfMany))
		require.NoError(t, targets.WriteCourse(nil, gradebook.New(policy, []string{"gears"}, attempts, nil)))
		found := 0
		for _, m := range regexp.MustCompile(`<td[^>]*><a href="([^"]*)">100</a>`).FindAllStringSubmatch(content(t, filepath.Join(dir, course)), -1) {
			to, err := url.Parse(html.UnescapeString(m[1]))
			require.NoError(t, err)
			assert.Empty(t, to.Scheme+to.Host+to.RawQuery+to.Fragment)
			assert.FileExists(t, filepath.Join(dir, filepath.Dir(course), filepath.FromSlash(to.Path)))
			found++
		}
		assert.Equal(t, len(names), found)
	}
}
