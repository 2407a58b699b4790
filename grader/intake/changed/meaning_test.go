package changed

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/intake/repository"
)

// meanings has an example for each of the cases, by its words, and for what the order of
// the cases decides.
var meanings = map[string][]struct {
	name string
	is   facts
	want meaning
}{
	"another student's, where everything is looked at": {
		{"a submission that is there", facts{kind: repository.Folder, owned: true, foreign: true, fits: true, listed: true, noChange: true}, unchanged},
		{"even a link", facts{kind: repository.Link, owned: true, foreign: true, onTheWay: true, noChange: true}, unchanged},
	},
	"another student's, whatever it is": {
		{"a changed submission", facts{kind: repository.Folder, owned: true, foreign: true, fits: true, listed: true}, foreign},
		{"a deleted one", facts{kind: repository.Absent, owned: true, foreign: true, fits: true, listed: true}, foreign},
		{"of no exercise", facts{kind: repository.Folder, owned: true, foreign: true, fits: true}, foreign},
		{"a link in place of all that is the student's", facts{kind: repository.Link, owned: true, foreign: true, onTheWay: true}, foreign},
		{"notes", facts{kind: repository.File, owned: true, foreign: true}, foreign},
	},
	"what no git writes, in no submission's place": {
		{"a student's folder", facts{kind: repository.Malformed, owned: true, onTheWay: true}, malformed},
		{"a folder of no exercise", facts{kind: repository.Malformed, owned: true, fits: true}, malformed},
		{"the root", facts{kind: repository.Malformed}, malformed},
	},
	"an archive in the place of a submission": {
		{"of an exercise", facts{kind: repository.File, owned: true, fits: true, looks: true, archive: true}, archive},
	},
	"a folder in the place of a submission, of no exercise": {
		{"a name misspelt", facts{kind: repository.Folder, owned: true, fits: true, looks: true}, unknown},
		{"a hidden one as well", facts{kind: repository.Folder, owned: true, fits: true}, unknown},
	},
	"anything else in such a place": {
		{"notes beside submissions", facts{kind: repository.File, owned: true, fits: true}, outside},
		{"gone", facts{kind: repository.Absent, owned: true, fits: true}, outside},
		{"a link", facts{kind: repository.Link, owned: true, fits: true, onTheWay: true}, outside},
	},
	"a file beside submissions whose place does not say the exercise": {
		{"a README", facts{kind: repository.File, owned: true, fits: true, listed: true}, outside},
	},
	"nothing, where a submission was": {
		{"deleted", facts{kind: repository.Absent, owned: true, fits: true, listed: true, onTheWay: true}, deleted},
	},
	"anything in the place of a submission": {
		{"a folder", facts{kind: repository.Folder, owned: true, fits: true, listed: true, looks: true}, graded},
		{"a file, to be refused", facts{kind: repository.File, owned: true, fits: true, listed: true, byPlace: true}, graded},
		{"a link, to be refused", facts{kind: repository.Link, owned: true, fits: true, listed: true, onTheWay: true}, graded},
		{"what no git writes, to be refused", facts{kind: repository.Malformed, owned: true, fits: true, listed: true}, graded},
		{"one's own, where everything is looked at", facts{kind: repository.Folder, owned: true, fits: true, listed: true, noChange: true}, graded},
	},
	"a link or a submodule in place of a folder above submissions": {
		{"a link", facts{kind: repository.Link, owned: true, onTheWay: true}, link},
		{"a submodule", facts{kind: repository.Module, onTheWay: true}, link},
	},
	"in a student's folder, and it looks like a submission": {
		{"a source one folder too high", facts{kind: repository.File, owned: true, looks: true}, unknown},
	},
	"anything else": {
		{"notes", facts{kind: repository.File, owned: true}, outside},
		{"a source outside of students' folders", facts{kind: repository.File, looks: true}, outside},
		{"a folder on the way that became a file", facts{kind: repository.File, onTheWay: true}, outside},
		{"a link elsewhere", facts{kind: repository.Link}, outside},
	},
}

// Each case has an example, and decides it: no case of the table is hidden by another.
func TestMeaningOf(t *testing.T) {
	for i, c := range cases {
		require.NotEmpty(t, meanings[c.when], "no example of: %s", c.when)
		for _, example := range meanings[c.when] {
			t.Run(c.when+"/"+example.name, func(t *testing.T) {
				assert.Equal(t, example.want, meaningOf(example.is))
				assert.Equal(t, c.means, example.want)
				assert.True(t, c.holds(example.is))
				for _, before := range cases[:i] {
					assert.False(t, before.holds(example.is), before.when)
				}
			})
		}
	}
	assert.Len(t, meanings, len(cases))
}
