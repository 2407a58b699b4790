package site

import (
	"fmt"
	"html/template"
	"net/http"
	"strconv"

	"grade/service"
	"grade/service/people"
)

// storyView is all that a student has handed in.
type storyView struct {
	Student   string          `json:"student"`
	Person    *people.Person  `json:"person"` // nil: not in the course any more
	Total     *float64        `json:"total"`
	Exercises []storyExercise `json:"exercises"`
}

type storyExercise struct {
	exerciseRow
	List  []attemptRow  `json:"list"` // the newest first
	Trend template.HTML `json:"-"`
}

func (q *request) story() error {
	student := q.PathValue("student")
	v := storyView{Student: student}
	if p, err := q.Door.Person(q.Context(), student); err == nil {
		v.Person, v.Student = &p, p.Login
	}
	book, handed := q.bookOf(v.Student, "", 0), 0
	if len(book.Rows) > 0 {
		v.Total = book.Rows[0].Total
	}
	for _, e := range q.course().Exercises {
		x := storyExercise{exerciseRow: q.row(v.Student, e, book), List: q.attempts(v.Student, e.Name, attemptsOf(v.Student, e.Name), book)}
		x.Trend = trend(x.List)
		handed += len(x.List)
		v.Exercises = append(v.Exercises, x)
	}
	if v.Person == nil && handed == 0 {
		return notFound(fmt.Sprintf("there is no student %q", student), "see the list of people")
	}
	return q.show("story", v)
}

// attemptOf shows an attempt of any student, with what staff may know besides.
func (q *request) attemptOf() error {
	student := q.PathValue("student")
	e, a, err := q.attempt(student)
	if err != nil {
		return err
	}
	v, err := q.attemptView(e, a, attemptsOf(student, e.Name))
	if err != nil {
		return err
	}
	v.Staff, v.Why, v.Worker, v.Back = true, a.Why, a.Worker, storyOf(student)
	if a.Record != nil {
		if host := a.Record.Host; host != "" && host != a.Worker {
			v.Worker += " on " + host
		}
		v.Result = a.Record.Result // in full: staff have the whole of it in an export too
	}
	return q.show("attempt", v)
}

func (q *request) sourceOf() error { return q.sendSource(q.PathValue("student")) }

// retry has an attempt graded again that came to no verdict by a fault of ours.
func (q *request) retry() error {
	student := q.PathValue("student")
	e, a, err := q.attempt(student)
	if err != nil {
		return err
	}
	if a.Stage != service.NoVerdict {
		return &Problem{Status: http.StatusConflict, Detail: "this attempt is " + string(a.Stage), Advice: "only an attempt without a verdict can be graded again here; the page Regrade changes results that count"}
	}
	if err := q.putsOut(a, e.Name); err != nil {
		return err
	}
	if err := q.Engine.Retry(q.Context(), a.Student, e.Name, a.Number); err != nil {
		return err
	}
	q.Log.InfoContext(q.Context(), "graded again", "student", a.Student, "exercise", e.Name, "attempt", a.Number, "by", q.person.Login)
	return q.done(attemptsOf(student, e.Name) + strconv.Itoa(a.Number))
}

// putsOut refuses to grade an attempt without a verdict if that would put a later one, which
// counts, out of those that may.
func (q *request) putsOut(a service.Attempt, exercise string) error {
	rules, _ := q.course().Policy.RulesOf(exercise)
	list := q.Engine.Attempts(a.Student, exercise)
	last := list[len(list)-1].Number
	if rules.Attempts == 0 || last == a.Number || nth(list, last) < rules.Attempts || nth(list, a.Number) >= rules.Attempts {
		return nil // there is room for it, or none of those that may count comes after it
	}
	return &Problem{Status: http.StatusConflict, Detail: takenWords(rules.Attempts),
		Advice: "raise attempts in grade.yaml first"}
}

// takenWords says that those which may count are handed in already.
func takenWords(limit int) string {
	if limit == 1 {
		return "the course counts only the first attempt, and one that was handed in after this one has its place: graded now, this one would put it out"
	}
	return fmt.Sprintf("the course counts the first %d, and those that were handed in after this one have taken all of them: graded now, it would put one of them out", limit)
}
