package site

import (
	"fmt"
	"slices"
	"time"

	"grade/exercises/course"
	"grade/service/people"
)

// extensionsView lists later due times.
type extensionsView struct {
	List      []extension        `json:"list"`  // given here
	Fixed     []course.Extension `json:"rules"` // of grade.yaml
	Exercises []string           `json:"-"`
	People    []people.Person    `json:"-"`
	YAML      string             `json:"-"`
}

func (q *request) extensionsPage() error {
	list, err := q.extensions()
	if err != nil {
		return err
	}
	all, err := q.Door.People(q.Context())
	if err != nil {
		return err
	}
	v := extensionsView{List: slices.Concat([]extension{}, list), Fixed: q.Course().Policy.Extensions, People: all}
	for _, e := range q.course().Exercises {
		v.Exercises = append(v.Exercises, e.Name)
	}
	if len(list) > 0 {
		v.YAML = "extensions:\n"
	}
	for _, x := range list {
		v.YAML += fmt.Sprintf("  - {student: %q, ", x.Student)
		if x.Exercise != "" {
			v.YAML += "exercise: " + x.Exercise + ", "
		}
		v.YAML += "due: " + x.Due.Format(time.RFC3339) + "}\n"
	}
	return q.show("extensions", v)
}

// extend gives a student a later due time.
func (q *request) extend() error {
	p, err := q.Door.Person(q.Context(), q.field("student"))
	if err != nil {
		return unprocessable("give a login as the list of people has it", "there is no student %q", q.field("student"))
	}
	x := extension{ID: newID(), Student: p.Login, Exercise: q.field("exercise"), By: q.person.Login, At: q.Now()}
	if _, ok := q.course().exercise(x.Exercise); !ok && x.Exercise != "" {
		return unprocessable("choose one of the list, or all", "there is no exercise %q", x.Exercise)
	}
	x.Due, err = time.ParseInLocation("2006-01-02T15:04", q.field("due"), q.course().Policy.Zone)
	if err != nil {
		return unprocessable("give it as 2026-12-01T23:59", "%q is no time", q.field("due"))
	}
	if due := q.Course().dueBefore(x); due.After(x.Due) {
		return unprocessable("give a later time", "this is no extension: without it the work is due on %s", due.Format("2 Jan 2006 15:04 MST"))
	}
	err = editKept(q, keyExtensions, func(list []extension) ([]extension, error) { return append(list, x), nil })
	if err != nil {
		return err
	}
	q.Log.InfoContext(q.Context(), "extended", "student", x.Student, "exercise", x.Exercise, "due", x.Due, "by", x.By)
	return q.done("/course/extensions")
}

// dueBefore is when what an extension is about is due without it, by grade.yaml; of several
// exercises, the first. It is zero if nothing is ever due.
func (c *Course) dueBefore(x extension) (first time.Time) {
	for _, e := range c.Exercises {
		if x.Exercise != "" && x.Exercise != e.Name {
			continue
		}
		rules, listed := c.Policy.RulesOf(e.Name)
		due, _ := c.Policy.DueFor(x.Student, rules)
		if listed && !due.IsZero() && (first.IsZero() || due.Before(first)) {
			first = due
		}
	}
	return first
}

func (q *request) unextend() error {
	id := q.PathValue("id")
	err := editKept(q, keyExtensions, func(list []extension) ([]extension, error) {
		n := len(list)
		if list = slices.DeleteFunc(list, func(x extension) bool { return x.ID == id }); len(list) == n {
			return nil, notFound("there is no such extension", "see the list of extensions")
		}
		return list, nil
	})
	if err != nil {
		return err
	}
	q.Log.InfoContext(q.Context(), "extension taken back", "id", id, "by", q.person.Login)
	return q.done("/course/extensions")
}
