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

// Invite makes an invitation of a person, and lets in one whom the roster lacks, with a
// role. Of a person in the roster, the roster says the role.
func Invite(ctx context.Context, d *people.Door, login string, role people.Role) (secret string, err error) {
	if _, err := d.Person(ctx, login); errors.Is(err, people.ErrStranger) {
		if strings.ContainsAny(login, "/\\ \t\n") {
			return "", unprocessable("a login has no spaces and no slashes", "%q cannot be a login", login)
		}
		if err := d.Admit(ctx, people.Person{Login: login, Name: login, Role: role}); err != nil {
			return "", err
		}
	} else if err != nil {
		return "", err
	}
	return d.Invite(ctx, login)
}
