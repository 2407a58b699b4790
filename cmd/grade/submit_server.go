package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"grade/grader/gradebook"
	"grade/grader/intake"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/service/client"

	"grade/exercises/course"
)

// fromServer has the submission graded by a service, and shows on the way what a grading
// here would show.
func (o *submitOptions) fromServer(ctx context.Context) (*verdict.Result, error) {
	snapshot, err := submission.Take(o.dir)
	if err != nil {
		return nil, hintToStart(o.dir, err)
	}
	if len(snapshot.Problems) > 0 {
		p := snapshot.Problems[0]
		return nil, faulty("mend that, and submit again; nothing was handed in", "%s: %s", p.File, p.Message)
	}
	c, err := o.client()
	if err != nil {
		return nil, err
	}
	exercise, err := o.exerciseOf(ctx, c, snapshot)
	if err != nil {
		return nil, err
	}
	a, err := c.HandIn(ctx, exercise, snapshot)
	if err != nil {
		return nil, err
	}
	if a.Notice != "" {
		o.app.note("%s", a.Notice)
	}
	if a, err = o.followed(ctx, c, a); err != nil {
		if ctx.Err() != nil {
			o.app.note("attempt %d at %s is handed in and will be graded: %s", a.Number, exercise, o.addressOf(a))
		}
		return nil, err
	}
	o.remote = &a
	if a.Result == nil {
		return nil, fmt.Errorf("attempt %d at %s: %s", a.Number, exercise, whyNone(a.Words))
	}
	return a.Result, nil
}

// whyNone returns what the service says of an attempt without a verdict, after the words of it
// that [noVerdict] says as well.
func whyNone(words string) string {
	return strings.TrimPrefix(strings.TrimPrefix(words, "no verdict: "), "no verdict yet: ")
}

// addressOf returns the address of an attempt's page. It leaves out the path of --server, which
// may be that of an invitation, a secret.
func (o *submitOptions) addressOf(a client.Attempt) string {
	base, err := client.Address(o.server)
	if err != nil { // and no client was opened
		return a.Address
	}
	return base.String() + a.Address
}

// client opens the service, with the token of this user.
func (o *submitOptions) client() (*client.Client, error) {
	token := o.env("GRADE_TOKEN")
	if token == "" {
		tokens, err := client.UserTokens()
		if err != nil {
			return nil, err
		}
		if token, err = tokens.Of(o.server); err != nil {
			return nil, err
		}
	}
	if token == "" {
		return nil, usage("sign in first: grade login "+o.server, "no token for %s", o.server)
	}
	return client.New(o.server, token)
}

// exerciseOf returns the exercise that --exercise names, or else the service's one with the
// package of the submission.
func (o *submitOptions) exerciseOf(ctx context.Context, c *client.Client, s *submission.Snapshot) (string, error) {
	if o.exercise != "" {
		return o.exercise, nil
	}
	list, err := c.Exercises(ctx)
	if err != nil {
		return "", err
	}
	var all []*course.Exercise
	for _, e := range list {
		all = append(all, &course.Exercise{Name: e.Name, Package: e.Package})
	}
	e, err := intake.ExerciseOf("", s, all)
	if unknown := (*intake.UnknownExercise)(nil); errors.As(err, &unknown) {
		return "", sayExercise(unknown, all)
	}
	if err != nil {
		return "", err
	}
	return e.Name, nil
}

// followed shows the progress of an attempt until it has come to its end. An interrupt ends
// the watching, and not the grading.
func (o *submitOptions) followed(ctx context.Context, c *client.Client, a client.Attempt) (client.Attempt, error) {
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("gave up after %v, as --timeout asks; attempt %d is kept, and graded", o.timeout, a.Number))
		defer cancel()
	}
	hear := func(client.News) {}
	if p := o.app.watch(o.quiet); p != nil {
		defer p.Start()()
		hear = func(n client.News) {
			if n.Event != nil {
				p.Event(*n.Event)
				return
			}
			p.Work(cmp.Or(n.Words, a.Words), 0, 0)
		}
	}
	return c.Follow(ctx, a, hear)
}

// counts says below the report what the attempt counts on the server, where rules of the
// course have done something.
func (o *submitOptions) counts() error {
	if o.remote == nil || o.json || o.targets.ReplacesText() {
		return nil
	}
	text := fmt.Sprintf("attempt %d at %s", o.remote.Number, o.addressOf(*o.remote))
	if p := o.remote.Points; p != nil {
		text += "; " + gradebook.Number(*p) + " points count"
	}
	if err := o.app.print("%s\n", text); err != nil {
		return err
	}
	for _, rule := range o.remote.Rules {
		if err := o.app.print("%s\n", rule); err != nil {
			return err
		}
	}
	return nil
}

// checkServer refuses flags that say how to grade on this machine.
func (o *submitOptions) checkServer() error {
	if o.server == "" {
		return nil
	}
	for flag, given := range map[string]bool{
		"--only": len(o.only) > 0, "--seed": o.seed != "", "--explain": o.explain, "--course": o.app.courseDir != "",
		"--sandbox, --build-image or --runtime": o.sandbox.Kind != "" || o.sandbox.BuildImage != "" || o.sandbox.Runtime != "",
	} {
		if given {
			return usage("leave it out, or grade here: without --server", "%s is for a grading on this machine, and --server grades elsewhere", flag)
		}
	}
	return nil
}
