package site

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"grade/exercises/course"
	"grade/grader/gradebook"
	"grade/service"
	"grade/service/people"
)

// The keys of what staff and students decide on pages.
const (
	keyExtensions = "extensions" // a list of extension
	keyBoard      = "board"      // names by logins
)

// extension is a later due time that staff have given on a page.
type extension struct {
	ID       string    `json:"id"`
	Student  string    `json:"student"`
	Exercise string    `json:"exercise,omitempty"` // empty: all
	Due      time.Time `json:"due"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
}

// lastExtensions serve while the store does not answer.
var lastExtensions atomic.Pointer[[]extension]

// extensions lists those that were given on pages.
func (q *request) extensions() (list []extension, err error) {
	err = q.readKept(keyExtensions, &list)
	return list, err
}

// extended adds the extensions that were given on pages to those of the course's rules.
func (q *request) extended(c *Course) *Course {
	list, err := q.extensions()
	if err != nil {
		q.Log.ErrorContext(q.Context(), "read extensions", "error", err)
		if last := lastExtensions.Load(); last != nil {
			list = *last
		}
	} else {
		lastExtensions.Store(&list)
	}
	return c.with(list)
}

// with returns the course with more extensions.
func (c *Course) with(list []extension) *Course {
	if len(list) == 0 {
		return c
	}
	rules, policy := *c.Policy.Policy, *c.Policy
	rules.Extensions = slices.Clone(rules.Extensions)
	for _, x := range list {
		rules.Extensions = append(rules.Extensions, course.Extension{Student: x.Student, Exercise: x.Exercise, Due: x.Due})
	}
	policy.Policy = &rules
	extended := *c
	extended.Policy = &policy
	return &extended
}

// Extended returns the rules of a course with the extensions that were given on pages, for
// who computes a gradebook elsewhere.
func Extended(ctx context.Context, keep people.Store, p *gradebook.Policy) (*gradebook.Policy, error) {
	var list []extension
	if err := readKept(ctx, keep, keyExtensions, &list); err != nil {
		return nil, err
	}
	return (&Course{Policy: p}).with(list).Policy, nil
}

func (q *request) readKept(key string, into any) error {
	return readKept(q.Context(), q.Keep, key, into)
}

// readKept decodes a value; into stays as it is if there is none.
func readKept(ctx context.Context, keep people.Store, key string, into any) error {
	entry, err := keep.Get(ctx, key)
	if errors.Is(err, service.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(entry.Value, into)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	return nil
}

// editKept replaces a value by what change makes of it, and again as long as another
// process was faster.
func editKept[T any](q *request, key string, change func(T) (T, error)) error {
	return people.Edit(q.Context(), q.Keep, key, 0, func(data []byte) ([]byte, error) {
		var value T
		if len(data) > 0 {
			if err := json.Unmarshal(data, &value); err != nil {
				return nil, fmt.Errorf("read %s: %w", key, err)
			}
		}
		value, err := change(value)
		if err != nil {
			return nil, err
		}
		return json.Marshal(value)
	})
}

// newID returns a short name for something in a list.
func newID() string { return rand.Text()[:8] }
