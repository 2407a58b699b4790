package site

import (
	"context"
	"errors"
	"strings"

	"grade/service/people"
)

// LinkOf returns the address of an invitation.
func LinkOf(address, secret string) string {
	return strings.TrimSuffix(address, "/") + "/enter/" + secret
}

// Invitable refuses logins if one of them cannot be invited with a role, so that of several
// all are, or none. Whom an earlier invitation has let in keeps that role: the form's usual one
// would make a student of an admin.
func Invitable(ctx context.Context, d *people.Door, logins []string, role people.Role) error {
	for _, login := range logins {
		p, err := d.Person(ctx, login)
		switch {
		case errors.Is(err, people.ErrStranger):
			if err := checkLogin(login); err != nil {
				return err
			}
		case err != nil:
			return err
		case !d.Listed(p.Login) && p.Role != role:
			return unprocessable("choose that role, or put them out first", "%s is %s here already", p.Login, p.Role)
		}
	}
	return nil
}

// checkLogin refuses what no address of a page can hold.
func checkLogin(login string) error {
	if strings.ContainsAny(login, "/\\ \t\n") {
		return unprocessable("a login has no spaces and no slashes", "%q cannot be a login", login)
	}
	return nil
}

// Invite makes an invitation of a person, and lets in one whom the roster lacks, with a
// role. Of a person in the roster, the roster says the role.
func Invite(ctx context.Context, d *people.Door, login string, role people.Role) (secret string, err error) {
	if _, err := d.Person(ctx, login); errors.Is(err, people.ErrStranger) {
		if err := checkLogin(login); err != nil {
			return "", err
		}
		if err := d.Admit(ctx, people.Person{Login: login, Name: login, Role: role}); err != nil {
			return "", err
		}
	} else if err != nil {
		return "", err
	}
	return d.Invite(ctx, login)
}
