package site

import (
	"fmt"
	"strings"

	"grade/service/people"
)

// peopleView lists who is in the course.
type peopleView struct {
	People []people.Person `json:"people"`
	Links  []linkView      `json:"links,omitempty"` // shown once
	Admin  bool            `json:"-"`
}

type linkView struct {
	Login string `json:"login"`
	Link  string `json:"link"`
}

func (q *request) peoplePage() error {
	list, err := q.Door.People(q.Context())
	if err != nil {
		return err
	}
	return q.show("people", peopleView{People: list, Admin: q.person.Role == people.Admin})
}

// invite makes links for people, a line each, and shows them once. A person whom the roster
// lacks is let in with the role that is given.
func (q *request) invite() error {
	role, err := people.ParseRole(q.field("role"))
	if err != nil {
		return unprocessable("choose one of them", "%s", err)
	}
	var links []linkView
	for login := range strings.FieldsSeq(strings.ReplaceAll(q.text("logins"), ",", " ")) {
		secret, err := Invite(q.Context(), q.Door, login, role)
		if err != nil {
			return err
		}
		q.Log.InfoContext(q.Context(), "invited", "login", login, "by", q.person.Login)
		links = append(links, linkView{login, LinkOf(q.Address, secret)})
	}
	if len(links) == 0 {
		return unprocessable(fmt.Sprintf("write logins, with spaces between them, %d KiB at most", maxForm>>10), "no login was given")
	}
	list, err := q.Door.People(q.Context())
	if err != nil {
		return err
	}
	return q.show("people", peopleView{People: list, Links: links, Admin: true})
}
