package site

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"grade/service/people"
)

type signInView struct {
	OIDC         bool
	Issuer, Then string
}

func (q *request) signIn() error {
	if q.person != nil {
		return q.done("/")
	}
	return q.show("signin", signInView{q.OIDC != nil, q.Issuer, local(q.URL.Query().Get("then"))})
}

// linkProblem says what is wrong with a link.
func (q *request) linkProblem(err error) error {
	again := "ask your teacher for a new link"
	var p *Problem
	switch {
	case errors.Is(err, people.ErrUsed):
		p = &Problem{Status: http.StatusGone, Detail: "this link was used already: it lets in once", Advice: "the browser that used it is signed in until it signs out; for another one " + again}
	case errors.Is(err, people.ErrExpired):
		p = &Problem{Status: http.StatusGone, Detail: "this link has expired", Advice: again}
	case errors.Is(err, people.ErrUnknown):
		p = notFound("this link is not known", "open it as it was sent, to its last letter; or "+again)
	case errors.Is(err, people.ErrStranger):
		p = &Problem{Status: http.StatusForbidden, Detail: "this link is for a person who is not in the course any more", Advice: "ask your teacher"}
	default:
		return err
	}
	if tooOften := q.guess(); tooOften != nil {
		return tooOften
	}
	return p
}

type invitedView struct {
	Person people.Person
	Other  *people.Person // is signed in here
}

// invited shows whom a link lets in. It uses nothing up: mail programs and chats open a link
// to show a preview of it.
func (q *request) invited() error {
	p, err := q.Door.Invited(q.Context(), q.PathValue("link"))
	if err != nil {
		return q.linkProblem(err)
	}
	return q.show("invited", invitedView{p, q.person})
}

// enter uses a link up and begins a session, which is a new one whatever cookie came along.
func (q *request) enter() error {
	cookie, _, err := q.Door.Enter(q.Context(), q.PathValue("link"))
	if err != nil {
		return q.linkProblem(err)
	}
	return q.begun(cookie, "/")
}

// begun gives the browser its session in the place of an older one, which ends.
func (q *request) begun(cookie, then string) error {
	if old, err := q.Cookie(q.cookieName("session")); err == nil {
		if err := q.Door.End(q.Context(), old.Value); err != nil {
			return err
		}
	}
	q.setCookie("session", cookie, people.SessionLife)
	return q.done(then)
}

func (q *request) signOut() error {
	if old, err := q.Cookie(q.cookieName("session")); err == nil {
		if err := q.Door.End(q.Context(), old.Value); err != nil {
			return err
		}
	}
	q.dropCookie("session")
	return q.done("/sign-in")
}

// journeyLife is how long a person may take at the issuer.
const journeyLife = 10 * time.Minute

func (q *request) oidcBegin() error {
	if q.OIDC == nil {
		return notFound("this course has no accounts to sign in with", "open the link of your invitation")
	}
	address, cookie, err := q.OIDC.Begin(q.Context(), local(q.URL.Query().Get("then")))
	if err != nil {
		return err
	}
	q.setCookie("journey", cookie, journeyLife)
	return q.done(address)
}

// oidcFinish lets in whom the issuer sends back.
func (q *request) oidcFinish() error {
	const again = "sign in again"
	if q.OIDC == nil {
		return notFound("this course has no accounts to sign in with", "open the link of your invitation")
	}
	journey, err := q.Cookie(q.cookieName("journey"))
	if err != nil {
		return &Problem{Status: http.StatusBadRequest, Detail: "this browser did not begin to sign in, or too long ago", Advice: again}
	}
	q.dropCookie("journey")
	query := q.URL.Query()
	if said := query.Get("error"); said != "" {
		return &Problem{Status: http.StatusForbidden, Detail: q.Issuer + " did not let you in", Advice: again}
	}
	p, then, err := q.OIDC.Finish(q.Context(), journey.Value, query.Get("state"), query.Get("code"))
	switch {
	case errors.Is(err, people.ErrStranger):
		return &Problem{Status: http.StatusForbidden, Detail: "you are known to " + q.Issuer + ", and not to this course", Advice: "ask your teacher to put you into the roster, with the address or login that you have there"}
	case errors.Is(err, people.ErrUnknown):
		return &Problem{Status: http.StatusBadRequest, Detail: "this browser did not begin to sign in here", Advice: again}
	case errors.Is(err, people.ErrUnverified):
		return &Problem{Status: http.StatusForbidden, Detail: q.Issuer + " does not say that your address is verified", Advice: "verify it there and sign in again, or ask your teacher for a link"}
	case err != nil:
		q.Log.WarnContext(q.Context(), "sign in", "error", err)
		return &Problem{Status: http.StatusBadGateway, Detail: q.Issuer + " and this service did not agree on who you are", Advice: again + "; if it goes on, tell your teacher"}
	}
	cookie, err := q.Door.Begin(q.Context(), p)
	if err != nil {
		return err
	}
	return q.begun(cookie, local(then))
}

// accountView is what a person sees about themselves.
type accountView struct {
	Person *people.Person `json:"person"`
	Tokens []people.Token `json:"tokens"`
	Board  bool           `json:"board"`
	Name   string         `json:"board_name"`
	Server string         `json:"-"`
}

func (q *request) account() error {
	tokens, err := q.Door.Tokens(q.Context(), q.person.Login)
	if err != nil {
		return err
	}
	for i := range tokens {
		tokens[i].Hash = ""
	}
	names, err := q.boardNames()
	if err != nil {
		return err
	}
	return q.show("account", accountView{q.person, tokens, q.course().Policy.Board, names[q.person.Login], q.Address})
}

func (q *request) revoke() error {
	err := q.Door.Revoke(q.Context(), q.person.Login, q.PathValue("id"))
	if errors.Is(err, people.ErrUnknown) {
		return notFound("you have no such token", "see the list on the page of your account")
	}
	if err != nil {
		return err
	}
	return q.done("/account")
}

// codeProblem says what is wrong with a code or a secret of a command line.
func (q *request) codeProblem(err error) error {
	for _, refusal := range []error{people.ErrUnknown, people.ErrExpired, people.ErrUsed} {
		if !errors.Is(err, refusal) {
			continue
		}
		if tooOften := q.guess(); tooOften != nil {
			return tooOften
		}
		status := http.StatusGone
		if refusal == people.ErrUnknown {
			status = http.StatusNotFound
		}
		return &Problem{Status: status, Detail: fmt.Sprintf("this code is %v", refusal), Advice: "begin again: grade login " + q.Address}
	}
	return err
}

// asked is what a command line gets that wants a token.
type asked struct {
	Code    string `json:"code"`    // which a person compares
	Secret  string `json:"secret"`  // which the token is given for
	Address string `json:"address"` // where a person approves it
	Seconds int    `json:"seconds"` // it lasts so long
	Every   int    `json:"every"`   // seconds between two questions for the token
}

func (q *request) deviceAsk() error {
	name := q.field("name")
	if name == "" {
		name = "a command line"
	}
	if err := tooMany(q.limits.devices.Take(q.client())); err != nil { // each is a value that is kept
		return err
	}
	code, secret, err := q.Door.Ask(q.Context(), name[:min(len(name), 60)])
	if err != nil {
		return err
	}
	return q.json(http.StatusCreated, asked{code, secret, q.Address + "/devices/" + code, int(people.RequestLife.Seconds()), 2})
}

type deviceView struct{ Code, Name string }

func (q *request) devicePage() error {
	name, err := q.Door.Asking(q.Context(), q.PathValue("code"))
	if err != nil {
		return q.codeProblem(err)
	}
	return q.show("device", deviceView{q.PathValue("code"), name})
}

func (q *request) deviceApprove() error {
	if err := q.Door.Approve(q.Context(), *q.person, q.PathValue("code")); err != nil {
		return q.codeProblem(err)
	}
	return q.show("approved", nil)
}

// deviceCollect gives a command line its token: 202 as long as it is not approved.
func (q *request) deviceCollect() error {
	token, p, err := q.Door.Collect(q.Context(), q.PathValue("code"), q.field("secret"))
	if errors.Is(err, people.ErrPending) {
		return q.json(http.StatusAccepted, map[string]string{"status": "pending"})
	}
	if err != nil {
		return q.codeProblem(err)
	}
	return q.json(http.StatusOK, grantedView{token, p.Login, p.Role})
}

// grantedView is a token, shown once.
type grantedView struct {
	Token string      `json:"token"`
	Login string      `json:"login"`
	Role  people.Role `json:"role"`
}
