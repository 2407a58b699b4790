package people

import (
	"fmt"
	"slices"
	"strings"

	"grade/grader/gradebook"
)

// Role is what a person is in a course. The zero value is invalid.
type Role string

// The roles. Staff see everything and extend deadlines; admins also let people in and make
// a regrade hold.
const (
	Student Role = "student"
	Staff   Role = "staff"
	Admin   Role = "admin"
)

// Roles are the valid roles.
var Roles = []Role{Student, Staff, Admin}

// ParseRole returns the role of that name; an empty one is a student's.
func ParseRole(name string) (Role, error) {
	r := Role(strings.ToLower(name))
	if r == "" {
		return Student, nil
	}
	if !slices.Contains(Roles, r) {
		return "", fmt.Errorf("the role %q is none: want student, staff or admin", name)
	}
	return r, nil
}

// Teaches reports whether the role sees what all students have handed in.
func (r Role) Teaches() bool { return r == Staff || r == Admin }

// Person is a person in a course.
type Person struct {
	Login string `json:"login"` // as results name the student
	Name  string `json:"name"`
	Email string `json:"email,omitempty"`
	Role  Role   `json:"role"`
}

// SpellAs gives people the spelling of their logins in what was handed in, if they differ in
// case alone: otherwise the work that is there would be another student's. Work is students and
// exercises; a login that has work as it is stays.
func SpellAs(list []Person, work [][2]string) {
	spelled, exact := map[string]string{}, map[string]bool{}
	for _, w := range work {
		key := strings.ToLower(w[0])
		exact[w[0]] = true
		if s, ok := spelled[key]; !ok || w[0] < s { // of several the same one, whatever their order
			spelled[key] = w[0]
		}
	}
	for i, p := range list {
		if s, ok := spelled[strings.ToLower(p.Login)]; ok && !exact[p.Login] {
			list[i].Login = s
		}
	}
}

// FromRoster returns the people of a roster, in its order. It leaves out those without a
// login, such as the test student that Canvas lists: nothing that they hand in could be
// told from what others do.
func FromRoster(roster gradebook.Roster) (list []Person, err error) {
	for _, p := range roster {
		login := roster.Login(p)
		if login == "" {
			continue
		}
		role, err := ParseRole(p.Role)
		if err != nil {
			return nil, fmt.Errorf("roster: %q: %w", p.Name, err)
		}
		person := Person{Login: login, Name: p.Name, Email: p.Email, Role: role}
		if person.Name == "" {
			person.Name = login
		}
		list = append(list, person)
	}
	return list, nil
}
