package report

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/report/sample"
	"grade/grader/verdict"
)

// GitLab shows what has changed by fingerprints: a line that moved is no new issue.
func TestCodeQualityFingerprints(t *testing.T) {
	of := func(line int, message string) string {
		r := sample.Refused(verdict.Invalid, verdict.Problem{File: "a.go", Line: line, Rule: "import", Message: message})
		return qualityOf(t, written(t, "gitlab-codequality", r))[0].Fingerprint
	}
	assert.Equal(t, of(3, "no"), of(30, "no"))
	assert.NotEqual(t, of(3, "no"), of(3, "yes"))
	twice := sample.Refused(verdict.Invalid, verdict.Problem{File: "a.go", Line: 3, Message: "no"}, verdict.Problem{File: "a.go", Line: 9, Message: "no"})
	assert.Len(t, qualityOf(t, written(t, "gitlab-codequality", twice)), 2, "of the same file and message, too, each has its own")
	assert.Equal(t, "[]\n", string(written(t, "gitlab-codequality", sample.AllPoints())))
}

func TestInside(t *testing.T) {
	for _, x := range []struct{ folder, file, want string }{
		{"week1/ada", "a.go", "week1/ada/a.go"}, {"", "a.go", "a.go"}, {"week1", "", "week1"}, {"", "", "."},
		{"..", "a.go", "."}, {"week1", "../../a.go", "."}, {"/etc", "passwd", "."}, {"week1", strings.Repeat("a", 1<<13), "."},
	} {
		assert.Equal(t, x.want, inside(x.folder, x.file))
	}
}

func TestJUnitOfManyCounts(t *testing.T) {
	var doc junitSuites
	require.NoError(t, xml.Unmarshal(writtenCourse(t, "junit", sample.SmallCourse()), &doc))
	var names []string
	total := [3]int{}
	for _, s := range doc.Suites {
		names = append(names, s.Name)
		got := [3]int{len(s.Cases)}
		for _, c := range s.Cases {
			for i, o := range []*junitOutcome{c.Failure, c.Error} {
				if o != nil {
					got[i+1]++
				}
			}
		}
		assert.Equal(t, [3]int{s.Tests, s.Failures, s.Errors}, got, s.Name)
		for i := range got {
			total[i] += got[i]
		}
	}
	assert.Equal(t, [3]int{doc.Tests, doc.Failures, doc.Errors}, total)
	assert.Equal(t, "ada/autograd ada/cosine barbara/cosine grace/autograd grace/cosine margaret/autograd margaret/cosine tony/autograd tony/unknown exercise (submissions/tony/notes)",
		strings.Join(names, " "))
}

func TestCourseAnnotationsAreCapped(t *testing.T) {
	lines := commandsOf(t, writtenCourse(t, "github-annotations", sample.Course(100, 6)))
	count := map[string]int{}
	for _, l := range lines {
		level, _, _ := strings.Cut(l, " ")
		count[level]++
	}
	assert.Equal(t, map[string]int{"::error": 10, "::warning": 10, "::notice": 1}, count)
	assert.Regexp(t, `^::error title=More::… and \d+ more in the report$`, lines[9])
	assert.Regexp(t, `^::notice title=[^:]*::100 students, \d+ submissions, \d+ without a verdict$`, lines[20])
}
