package site

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"grade/exercises/course"
	"grade/grader/batch"
	"grade/grader/gradebook"
	"grade/grader/report"
	"grade/grader/report/page"
	"grade/grader/report/wording"
	"grade/grader/verdict"
	"grade/service"
	"grade/service/people"
)

// book computes the gradebook of the course from all that is kept, as grade gradebook does
// from an export of it.
func (q *request) book() *gradebook.Book {
	store := q.Results
	return batch.Book(q.course().Policy, store.Attempts(), store.Pending(), nil)
}

// storyOf is the address of a student's page.
func storyOf(student string) string { return "/course/students/" + url.PathEscape(student) }

// gradebookView is the gradebook.
type gradebookView struct {
	Main    template.HTML   `json:"-"`
	Formats []report.Format `json:"-"`
	Title   string          `json:"title"`
	Columns []string        `json:"exercises"`
	Rows    []gradebookRow  `json:"students"`
	Absent  []people.Person `json:"nothing_handed_in"` // students of the course
}

type gradebookRow struct {
	Student string          `json:"student"`
	Total   *float64        `json:"total"` // percent; nil: not known
	Cells   []gradebookCell `json:"exercises"`
}

type gradebookCell struct {
	Points    *float64 `json:"points"` // nil: none
	Attempts  int      `json:"attempts"`
	Late      bool     `json:"late"`
	NoVerdict bool     `json:"no_verdict"`
	Rules     []string `json:"rules"`
}

func (q *request) gradebookPage() error {
	book := q.book()
	v := gradebookView{Title: wording.Title(book), Columns: []string{}, Rows: []gradebookRow{}, Absent: []people.Person{}}
	for _, f := range report.Formats() {
		if f.OfMany() {
			v.Formats = append(v.Formats, f)
		}
	}
	for _, c := range book.Columns {
		v.Columns = append(v.Columns, c.Exercise)
	}
	for _, row := range book.Rows {
		r := gradebookRow{Student: row.Student, Total: row.Total}
		for _, c := range row.Cells {
			r.Cells = append(r.Cells, gradebookCell{c.Points, len(c.Attempts), c.Late, c.Missing != nil, slices.Concat([]string{}, c.Rules)})
		}
		v.Rows = append(v.Rows, r)
	}
	if err := v.absent(q); err != nil {
		return err
	}
	if !wantsJSON(q.Request) {
		var b bytes.Buffer
		pages := func(student, exercise string) string { return storyOf(student) + "#" + exercise }
		if err := page.CourseMain(&b, book, pages); err != nil {
			return err
		}
		v.Main = template.HTML(b.String())
	}
	return q.show("gradebook", v)
}

// absent lists the students who are in no row, because they have handed nothing in.
func (v *gradebookView) absent(q *request) error {
	all, err := q.Door.People(q.Context())
	for _, p := range all {
		in := slices.ContainsFunc(v.Rows, func(r gradebookRow) bool { return strings.EqualFold(r.Student, p.Login) })
		if p.Role == people.Student && !in {
			v.Absent = append(v.Absent, p)
		}
	}
	return err
}

// kinds are the types of downloads whose names say no type.
var kinds = map[string][2]string{
	"html": {"html", "text/html; charset=utf-8"}, "markdown": {"md", "text/markdown; charset=utf-8"}, "json": {"json", "application/json"},
	"junit": {"xml", "application/xml"}, "csv": {"csv", "text/csv; charset=utf-8"}, "canvas": {"csv", "text/csv; charset=utf-8"},
	"gitlab-codequality": {"json", "application/json"},
}

// download sends the gradebook in a format of grade gradebook.
func (q *request) download() error {
	f, ok := report.FormatNamed(q.PathValue("format"))
	if !ok || !f.OfMany() {
		return notFound(fmt.Sprintf("there is no gradebook as %q", q.PathValue("format")), "the page of the gradebook lists the formats")
	}
	var b bytes.Buffer
	if err := f.WriteCourse(&b, q.book()); err != nil {
		return unprocessable("docs/grade-yaml.md says what the format needs", "%s", err)
	}
	kind, ok := kinds[f.Name]
	if !ok {
		kind = [2]string{"txt", "text/plain; charset=utf-8"}
	}
	return q.send(f.Name+"-gradebook."+kind[0], kind[1], b.Bytes())
}

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
		x := storyExercise{exerciseRow: q.row(v.Student, e, book), List: q.attempts(v.Student, e.Name, storyOf(v.Student)+"/"+e.Name+"/attempts/", book)}
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
	v, err := q.attemptView(e, a, storyOf(student)+"/"+e.Name+"/attempts/")
	if err != nil {
		return err
	}
	v.Staff, v.Why, v.Worker, v.Back = true, a.Why, a.Worker, storyOf(student)
	if a.Record != nil {
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
		return &Problem{Status: http.StatusConflict, Detail: "this attempt is " + string(a.Stage), Advice: "only one without a verdict can be graded again here; what holds is changed by a regrade"}
	}
	if err := q.Engine.Retry(q.Context(), a.Student, e.Name, a.Number); err != nil {
		return err
	}
	q.Log.InfoContext(q.Context(), "graded again", "student", a.Student, "exercise", e.Name, "attempt", a.Number, "by", q.person.Login)
	return q.done(fmt.Sprintf("%s/%s/attempts/%d", storyOf(student), e.Name, a.Number))
}

// checksView says which checks of an exercise fail most.
type checksView struct {
	Exercise string       `json:"exercise"`
	Title    string       `json:"title"`
	Students int          `json:"students"` // whose counted or else newest attempt was built and tested
	Checks   []failedView `json:"checks"`   // those that fail most first
	Stages   []stageCount `json:"stages"`
}

type (
	failedView struct {
		Name   string       `json:"name"`
		Hint   string       `json:"hint"`
		Failed int          `json:"failed"`
		Share  float64      `json:"share"`
		Who    []failedWith `json:"students"`
	}
	failedWith struct {
		Student string `json:"student"`
		Verdict string `json:"verdict"`
		Address string `json:"address"`
	}
	stageCount struct {
		Verdict string `json:"verdict"`
		Count   int    `json:"count"`
	}
)

func (q *request) checksPage() error {
	e, err := q.exercise()
	if err != nil {
		return err
	}
	v := checksView{Exercise: e.Name, Title: e.Title, Checks: []failedView{}, Stages: []stageCount{}}
	failed, verdicts := map[string]*failedView{}, map[verdict.Verdict]int{}
	for _, entry := range q.book().Entries() {
		if entry.Exercise != e.Name {
			continue
		}
		a := cmp.Or(entry.Cell.Counts, entry.Cell.Shown())
		if a == nil {
			continue
		}
		if verdicts[a.Result.Verdict]++; a.Result.Verdict != verdict.Graded {
			continue
		}
		v.Students++
		for _, c := range a.Result.Checks {
			if !c.Verdict.Earns() && !wording.NotAsked(c) {
				f := failed[c.Name]
				if f == nil {
					f = &failedView{Name: c.Name, Hint: c.Hint}
					failed[c.Name] = f
				}
				f.Failed++
				f.Who = append(f.Who, failedWith{entry.Student, wording.CheckVerdict(c), storyOf(entry.Student) + "#" + e.Name})
			}
		}
	}
	for _, f := range failed {
		f.Share = float64(f.Failed) / float64(v.Students)
		v.Checks = append(v.Checks, *f)
	}
	slices.SortFunc(v.Checks, func(a, b failedView) int { return cmp.Or(b.Failed-a.Failed, strings.Compare(a.Name, b.Name)) })
	for _, kind := range []verdict.Verdict{verdict.Graded, verdict.CompileError, verdict.Invalid} {
		v.Stages = append(v.Stages, stageCount{wording.Verdict(kind), verdicts[kind]})
	}
	return q.show("checks", v)
}

// queueView is the queue, and who works on it.
type queueView struct {
	Waiting   int             `json:"waiting"`
	Grading   int             `json:"grading"`
	Oldest    time.Time       `json:"oldest,omitzero"`
	Wait      *float64        `json:"wait_seconds"` // of a newcomer; nil: not known
	WaitText  string          `json:"-"`
	OldestAge string          `json:"-"`
	Workers   []workerView    `json:"workers"`
	NoVerdict []noVerdictView `json:"no_verdict"`
}

type (
	workerView struct {
		service.WorkerState
		Takes bool   `json:"takes_jobs"`
		Ago   string `json:"-"`
	}
	noVerdictView struct {
		Student  string    `json:"student"`
		Exercise string    `json:"exercise"`
		Why      string    `json:"why"`
		Since    time.Time `json:"since"`
		Address  string    `json:"address"`
	}
)

func (q *request) queuePage() error {
	now, queue := q.Now(), q.Engine.Queue()
	v := queueView{Waiting: queue.Waiting, Grading: queue.Grading, Oldest: queue.Oldest, WaitText: inAbout(queue.Wait), Workers: []workerView{}, NoVerdict: []noVerdictView{}}
	if queue.Wait >= 0 {
		v.Wait = pointer(queue.Wait.Seconds())
	}
	if !queue.Oldest.IsZero() {
		v.OldestAge = inAbout(max(0, now.Sub(queue.Oldest)))
	}
	for _, w := range queue.Workers {
		v.Workers = append(v.Workers, workerView{w, w.Takes(), inAbout(max(0, now.Sub(w.Heard)))})
	}
	for _, p := range q.Results.Pending() {
		list := q.Engine.Attempts(p.Student, p.Exercise)
		if len(list) == 0 || list[len(list)-1].Stage != service.NoVerdict {
			continue
		}
		a := list[len(list)-1]
		v.NoVerdict = append(v.NoVerdict, noVerdictView{p.Student, p.Exercise, a.Why, a.Submitted, fmt.Sprintf("%s/%s/attempts/%d", storyOf(p.Student), p.Exercise, a.Number)})
	}
	return q.show("queue", v)
}

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
	err = editKept(q, keyExtensions, func(list []extension) ([]extension, error) { return append(list, x), nil })
	if err != nil {
		return err
	}
	q.Log.InfoContext(q.Context(), "extended", "student", x.Student, "exercise", x.Exercise, "due", x.Due, "by", x.By)
	return q.done("/course/extensions")
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
	for login := range strings.FieldsSeq(strings.ReplaceAll(q.field("logins"), ",", " ")) {
		secret, err := Invite(q.Context(), q.Door, login, role)
		if err != nil {
			return err
		}
		q.Log.InfoContext(q.Context(), "invited", "login", login, "by", q.person.Login)
		links = append(links, linkView{login, LinkOf(q.Address, secret)})
	}
	if len(links) == 0 {
		return unprocessable("write logins, with spaces between them", "nobody was named")
	}
	list, err := q.Door.People(q.Context())
	if err != nil {
		return err
	}
	return q.show("people", peopleView{People: list, Links: links, Admin: true})
}
