package gradebook

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Person is a person of the course as the gradebook of Canvas knows them, with what a
// service needs besides.
type Person struct {
	Name       string // such as Lovelace, Ada
	ID         string // Canvas' own number
	SISUserID  string
	SISLoginID string
	Section    string
	Role       string // such as staff; empty: a student
	Email      string
}

// Roster lists the students of a course, in the order of the file that names them.
type Roster []Person

// Find returns the person with the login student: by SIS Login ID, or by SIS User ID if the
// roster has no logins, or by Canvas' ID if it has neither. One column serves all, because
// a student who may choose a name could otherwise choose another's number. Logins are
// compared without case.
func (r Roster) Find(student string) (Person, bool) {
	for _, name := range []func(Person) string{Person.login, Person.user, Person.number} {
		if !slices.ContainsFunc(r, func(p Person) bool { return name(p) != "" }) {
			continue
		}
		i := slices.IndexFunc(r, func(p Person) bool { return strings.EqualFold(name(p), student) })
		if i < 0 || student == "" {
			return Person{}, false
		}
		return r[i], true
	}
	return Person{}, false
}

// teachers returns the logins of those whose role is another than a student's.
func (r Roster) teachers() (logins []string) {
	for _, p := range r {
		if p.Teaches() && r.Login(p) != "" {
			logins = append(logins, r.Login(p))
		}
	}
	return logins
}

// Teaches reports whether the role of a person is another than a student's.
func (p Person) Teaches() bool { return p.Role != "" && !strings.EqualFold(p.Role, "student") }

// Login returns the name by which results know a person: the SIS Login ID, or what stands
// for it in a roster without logins, as [Roster.Find] has it. It is empty if that is.
func (r Roster) Login(p Person) string {
	for _, name := range []func(Person) string{Person.login, Person.user, Person.number} {
		if slices.ContainsFunc(r, func(p Person) bool { return name(p) != "" }) {
			return name(p)
		}
	}
	return ""
}

func (p Person) login() string  { return p.SISLoginID }
func (p Person) user() string   { return p.SISUserID }
func (p Person) number() string { return p.ID }

// The columns of a gradebook that Canvas has exported, as far as they are about people.
const (
	columnName  = "Student"
	columnLast  = "LastName" // with FirstName it replaces Student, by a setting of the course
	columnFirst = "FirstName"
	columnID    = "ID"
	columnUser  = "SIS User ID"
	columnLogin = "SIS Login ID"
	columnPlace = "Section"
)

// The columns that Canvas does not have.
const (
	columnRole  = "Role"
	columnEmail = "Email"
)

// ReadRoster reads a gradebook that Canvas has exported, or any CSV file with some of its
// columns, in any order: Student, ID, SIS User ID, SIS Login ID, Section, and Role and Email,
// which Canvas does not have. It skips other columns, and rows about assignments.
func ReadRoster(r io.Reader) (Roster, error) {
	roster, err := readRoster(r)
	if err != nil {
		return nil, fmt.Errorf("read the roster: %w", err)
	}
	return roster, nil
}

// pointsPossible marks the row of what each assignment is worth.
const pointsPossible = "Points Possible"

// isMaxima reports whether a row is that one, and no student's who goes by this name.
func (p Person) isMaxima() bool {
	return p.Name == pointsPossible && p.ID == "" && p.SISUserID == "" && p.SISLoginID == ""
}

// ReadMaxima reads what each assignment is worth in Canvas, by the name of its column, from
// an exported gradebook. The map is empty if the file does not say.
func ReadMaxima(r io.Reader) (map[string]float64, error) {
	rows, err := tableRows(r)
	if err != nil {
		return nil, err
	}
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("read the roster: %w", err)
	}
	columns, _ := rosterColumns(header) // without any, no row has a student
	maxima := map[string]float64{}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return maxima, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the roster: %w", err)
		}
		if len(maxima) > 0 || !columns.person(row).isMaxima() {
			continue
		}
		for i, text := range row {
			if most, err := points(text); err == nil && most > 0 && most < 1e6 {
				maxima[strings.TrimSpace(header[i])] = most
			}
		}
	}
}

// points reads a number such as 10.00 or 1,234.50. Canvas writes some languages' commas: 10,00
// or 1.234,50. It refuses 1,234, which may be either.
func points(text string) (float64, error) {
	text = strings.TrimSpace(text)
	comma, dot := strings.LastIndexByte(text, ','), strings.LastIndexByte(text, '.')
	switch {
	case dot > comma:
		text = strings.ReplaceAll(text, ",", "")
	case dot >= 0 || comma >= 0 && len(text)-comma != len(",234"):
		text = strings.NewReplacer(".", "", ",", ".").Replace(text)
	}
	return strconv.ParseFloat(text, 64)
}

func readRoster(r io.Reader) (roster Roster, err error) {
	rows, err := tableRows(r)
	if err != nil {
		return nil, err
	}
	header, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	}
	if err != nil {
		return nil, err
	}
	columns, err := rosterColumns(header)
	if err != nil {
		return nil, err
	}
	seen := map[string]int{}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return roster, nil
		}
		if err != nil {
			return nil, err
		}
		p := columns.person(row)
		if p == (Person{}) || p.isMaxima() {
			continue
		}
		line, _ := rows.FieldPos(0)
		if err := p.check(line, seen); err != nil {
			return nil, err
		}
		roster = append(roster, p)
	}
}

// rosterHeader maps a field to its column in the file.
type rosterHeader map[string]int

func rosterColumns(header []string) (rosterHeader, error) {
	h := rosterHeader{}
	for i, name := range header {
		name = strings.TrimSpace(name)
		if !slices.Contains([]string{columnName, columnLast, columnFirst, columnID, columnUser, columnLogin, columnPlace, columnRole, columnEmail}, name) {
			continue
		}
		if at, twice := h[name]; twice {
			return nil, atLine(1, "columns %d and %d are both %q", at+1, i+1, name)
		}
		h[name] = i
	}
	for _, name := range []string{columnLogin, columnUser, columnID} {
		if _, ok := h[name]; ok {
			return h, nil
		}
	}
	return nil, atLine(1, "none of the columns is %q, %q or %q, by which students are found; export the gradebook from Canvas", columnLogin, columnUser, columnID)
}

func (h rosterHeader) person(row []string) Person {
	get := func(column string) string {
		i, ok := h[column]
		if !ok {
			return ""
		}
		return strings.TrimSpace(row[i])
	}
	p := Person{Name: get(columnName), ID: get(columnID), SISUserID: get(columnUser), SISLoginID: get(columnLogin), Section: get(columnPlace), Role: get(columnRole), Email: get(columnEmail)}
	if last := get(columnLast); last != "" {
		p.Name = strings.TrimSuffix(last+", "+get(columnFirst), ", ")
	}
	return p
}

// check refuses a person who cannot be found by any key, or who shares one with another
// person. Seen maps each key to its line.
func (p Person) check(line int, seen map[string]int) error {
	if p.ID == "" && p.SISUserID == "" && p.SISLoginID == "" {
		return atLine(line, "%q has no %s, %s or %s", p.Name, columnLogin, columnUser, columnID)
	}
	for _, x := range []struct{ column, value string }{{columnLogin, p.SISLoginID}, {columnUser, p.SISUserID}, {columnID, p.ID}} {
		key := x.column + " " + strings.ToLower(x.value)
		if at, twice := seen[key]; twice && x.value != "" {
			return atLine(line, "%s %q stands on line %d too", x.column, x.value, at)
		}
		seen[key] = line
	}
	return nil
}
