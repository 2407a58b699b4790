package site

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"grade/service/people"
)

// peopleView lists who is in the course.
type peopleView struct {
	People []personRow `json:"people"`
	Links  []linkView  `json:"links,omitempty"` // shown once
	Admin  bool        `json:"-"`
}

type personRow struct {
	people.Person
	Listed bool `json:"listed"` // in the roster, which says who is in the course
	Self   bool `json:"-"`
}

type linkView struct {
	Login string `json:"login"`
	Link  string `json:"link"`
}

func (q *request) peoplePage() error { return q.showPeople(nil) }

func (q *request) showPeople(links []linkView) error {
	list, err := q.Door.People(q.Context())
	if err != nil {
		return err
	}
	v := peopleView{Links: links, Admin: q.person.Role == people.Admin}
	for _, p := range list {
		v.People = append(v.People, personRow{p, q.Door.Listed(p.Login), p.Login == q.person.Login})
	}
	return q.show("people", v)
}

// invite makes links for people, a line each, and shows them once. A person whom the roster
// lacks is let in with the role that is given.
func (q *request) invite() error {
	role, err := people.ParseRole(q.field("role"))
	if err != nil {
		return unprocessable("choose one of them", "%s", err)
	}
	logins := strings.Fields(strings.ReplaceAll(q.text("logins"), ",", " "))
	if err := Invitable(q.Context(), q.Door, logins, role); err != nil {
		return err
	}
	var links []linkView
	for _, login := range logins {
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
	return q.showPeople(links)
}

// signOutOther ends what a person is signed in with: a lost laptop, or one who has left.
func (q *request) signOutOther() error {
	p, err := q.Door.Person(q.Context(), q.PathValue("student"))
	if err != nil {
		return noPerson(err)
	}
	if err := q.Door.SignOut(q.Context(), p.Login); err != nil {
		return err
	}
	q.Log.InfoContext(q.Context(), "signed out everywhere", "login", p.Login, "by", q.person.Login)
	return q.done("/course/people")
}

// dismiss puts out of the course whom an invitation has brought in. There is always an admin:
// it cannot be oneself.
func (q *request) dismiss() error {
	p, err := q.Door.Person(q.Context(), q.PathValue("student"))
	switch {
	case err != nil:
		return noPerson(err)
	case p.Login == q.person.Login:
		return &Problem{Status: http.StatusConflict, Detail: "you cannot put yourself out of the course", Advice: "another admin can"}
	case q.Door.Listed(p.Login):
		return &Problem{Status: http.StatusConflict, Detail: p.Login + " is in the roster, which says who is in the course", Advice: "take the line out of the roster that grade.yaml names"}
	}
	if err := q.Door.Dismiss(q.Context(), p.Login); err != nil {
		return noPerson(err)
	}
	q.Log.InfoContext(q.Context(), "put out of the course", "login", p.Login, "by", q.person.Login)
	return q.done("/course/people")
}

// noPerson is the answer to what is asked about one who is not in the course.
func noPerson(err error) error {
	if errors.Is(err, people.ErrStranger) {
		return notFound("there is no such person in the course", "see the list of people")
	}
	return err
}
