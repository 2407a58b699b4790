package gradebook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/verdict"
)

// exported is what Canvas writes.
const exported = `Student,ID,SIS User ID,SIS Login ID,Section,Autograd (4711),Current Score
,,,,,Manual Posting,
    Points Possible,,,,,100.00,(read only)
"Lovelace, Ada",101,S1,ada,"Monday and Tuesday",72.50,72.50
"Hopper, Grace",102,S2,grace@example.org,Monday,,
"Student, Test",103,,,Monday,,
`

func TestReadRoster(t *testing.T) {
	ada := Person{Name: "Lovelace, Ada", ID: "101", SISUserID: "S1", SISLoginID: "ada", Section: "Monday and Tuesday"}
	for name, file := range map[string]string{
		"as exported":         exported,
		"with a mark":         "\ufeff" + exported,
		"with CRLF":           strings.ReplaceAll(exported, "\n", "\r\n"),
		"in another order":    "Section,SIS Login ID,Student,SIS User ID,ID\nMonday and Tuesday,ada,\"Lovelace, Ada\",S1,101\n",
		"with semicolons":     "Student;ID;SIS User ID;SIS Login ID;Section\nLovelace, Ada;101;S1;ada;Monday and Tuesday\n",
		"with names in parts": "LastName,FirstName,ID,SIS User ID,SIS Login ID,Section\nLovelace,Ada,101,S1,ada,Monday and Tuesday\n",
	} {
		t.Run(name, func(t *testing.T) {
			roster, err := ReadRoster(strings.NewReader(file))
			require.NoError(t, err)
			require.NotEmpty(t, roster)
			assert.Equal(t, ada, roster[0])
		})
	}
	roster, err := ReadRoster(strings.NewReader(exported))
	require.NoError(t, err)
	assert.Len(t, roster, 3, "rows about assignments name no student")
}

func TestReadRosterRefuses(t *testing.T) {
	const header = "Student,ID,SIS Login ID\n"
	for file, want := range map[string]string{
		"":                                     "read the roster: the file is empty",
		"Student,Section\nAda,1\n":             "read the roster: line 1: none of the columns is \"SIS Login ID\"",
		"ID,ID\n1,2\n":                         `read the roster: line 1: columns 1 and 2 are both "ID"`,
		header + "Ada,1,ada\nGrace,2,ADA\n":    `read the roster: line 3: SIS Login ID "ADA" stands on line 2 too`,
		header + "Ada,1,ada\n\"Gr\nace\",1,\n": `read the roster: line 3: ID "1" stands on line 2 too`,
		header + "Ada,,\n":                     `read the roster: line 2: "Ada" has no SIS Login ID, SIS User ID or ID`,
		header + "Ada,1\n":                     "read the roster: record on line 2: wrong number of fields",
		header + "\"Ada,1,ada\n":               "read the roster: parse error on line 2, column 12: extraneous or missing",
	} {
		_, err := ReadRoster(strings.NewReader(file))
		assert.ErrorContains(t, err, want)
	}
}

func TestRosterFind(t *testing.T) {
	logins := Roster{{Name: "one", ID: "1", SISUserID: "ada", SISLoginID: "x"}, {Name: "two", ID: "2", SISLoginID: "ada"}, {Name: "three", ID: "3"}}
	users := Roster{{Name: "one", ID: "1", SISUserID: "ada"}, {Name: "two", ID: "ada"}}
	for _, c := range []struct {
		roster        Roster
		student, want string
	}{
		{logins, "ada", "two"}, {logins, "Ada", "two"}, {logins, "x", "one"}, {users, "ada", "one"}, {users[1:], "ada", "two"},
		{logins, "3", ""}, {users, "1", ""}, // a login may equal the number of another student
		{logins, "", ""}, {logins, "nobody", ""}, {nil, "ada", ""},
	} {
		p, ok := c.roster.Find(c.student)
		assert.Equal(t, c.want != "", ok, c.student)
		assert.Equal(t, c.want, p.Name, c.student)
	}
}

func TestReadMaxima(t *testing.T) {
	maxima, err := ReadMaxima(strings.NewReader("\ufeffStudent,ID,Section,Gears (17), Levers (18),Read only\n    Points Possible,,,50,12.5,(read only)\nAda,1,S,40,,\n"))
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"Gears (17)": 50, "Levers (18)": 12.5}, maxima)
	for text, want := range map[string]float64{"10.00": 10, "10": 10, "10,00": 10, "12,5": 12.5, "1,234.50": 1234.5, "1.234,50": 1234.5, "1,234": 0, "1,2,3": 0, "-1": 0, "": 0} {
		for _, file := range []string{"Student;ID;Gears\nPoints Possible;;" + text + "\n", "Student,ID,Gears\nPoints Possible,,\"" + text + "\"\n"} {
			maxima, err = ReadMaxima(strings.NewReader(file))
			require.NoError(t, err)
			assert.InDelta(t, want, maxima["Gears"], 0, file)
		}
	}
	// A student of that name sets nothing for anybody, and is one.
	const named = "Student,ID,SIS Login ID,Gears\nPoints Possible,,,50\n Points Possible,7,mallory,1\nPoints Possible,,,3\n"
	maxima, err = ReadMaxima(strings.NewReader(named))
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"Gears": 50}, maxima)
	roster, err := ReadRoster(strings.NewReader(named))
	require.NoError(t, err)
	require.Len(t, roster, 1)
	assert.Equal(t, "mallory", roster[0].SISLoginID)
	maxima, err = ReadMaxima(strings.NewReader("Student,ID\nAda,1\n"))
	require.NoError(t, err)
	assert.Empty(t, maxima)
}

func FuzzReadRoster(f *testing.F) {
	f.Add(exported)
	f.Fuzz(func(t *testing.T, file string) {
		roster, err := ReadRoster(strings.NewReader(file))
		if err != nil {
			require.Nil(t, roster)
		}
		for _, p := range roster {
			require.True(t, p.ID+p.SISUserID+p.SISLoginID != "")
		}
	})
}

// What persons who teach have handed in is in no gradebook.
func TestStaffHaveNoRow(t *testing.T) {
	p := NewPolicy([]string{"gears"})
	p.Members = Roster{{SISLoginID: "ada"}, {SISLoginID: "bob", Role: "Student"}, {SISLoginID: "grace", Role: "staff"}, {SISUserID: "guest", Role: "staff"}}
	var attempts []Attempt
	for _, student := range []string{"ada", "bob", "Grace", "guest"} {
		attempts = append(attempts, Attempt{Student: student, Exercise: "gears", Result: &verdict.Result{Verdict: verdict.Graded}})
	}
	b := p.Book(attempts, []Missing{{Student: "grace", Exercise: "gears"}, {Student: "dora", Exercise: "gears"}})
	var rows []string
	for _, r := range b.Rows {
		rows = append(rows, r.Student)
	}
	assert.ElementsMatch(t, []string{"ada", "bob", "dora", "guest"}, rows)
	assert.Len(t, attempts, 4, "the caller's list is as it was")
}
