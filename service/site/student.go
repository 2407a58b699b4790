package site

import (
	"bytes"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"time"

	"grade/exercises/course"
	"grade/exercises/course/readme"
	"grade/grader/gradebook"
	"grade/grader/report/page"
	"grade/grader/report/wording"
	"grade/grader/verdict"
	"grade/service"
	"grade/service/people"
)

// homeView lists the exercises of a course for one person.
type homeView struct {
	Course    string         `json:"course"`
	Person    *people.Person `json:"person"`
	Exercises []exerciseRow  `json:"exercises"`
	Total     *float64       `json:"total"` // percent; nil: not known
	Chapters  []chapterRow   `json:"-"`
}

// chapterRow is a chapter of the course, as the page shows it.
type chapterRow struct {
	Title     string
	Exercises []exerciseRow
}

// exerciseRow is an exercise, and how far a person has come with it.
type exerciseRow struct {
	Name     string    `json:"name"`
	Title    string    `json:"title"`
	Summary  string    `json:"summary"`
	Chapter  string    `json:"chapter,omitempty"`
	Effort   string    `json:"effort,omitempty"` // such as "medium, 3 hours"
	Package  string    `json:"package"`
	Due      time.Time `json:"due,omitzero"`
	Extended bool      `json:"extended,omitempty"`
	Weight   float64   `json:"weight"`
	Limit    int       `json:"attempts_that_count,omitempty"`
	Points   *float64  `json:"points"` // that count; nil: none yet
	Max      int       `json:"max_points"`
	Attempts int       `json:"attempts"`
	Stage    string    `json:"stage,omitempty"` // of the newest attempt
	Rules    []string  `json:"rules,omitempty"` // what each rule of the course did
}

func (q *request) home() error {
	c, book := q.course(), q.bookOf(q.person.Login, "", 0)
	view := homeView{Course: c.Policy.Title, Person: q.person, Exercises: []exerciseRow{}}
	for _, ch := range c.Chapters {
		rows := chapterRow{Title: ch.Title}
		for _, entry := range ch.Entries {
			if e, ok := c.exercise(entry.Name); ok {
				r := q.row(q.person.Login, e, book)
				r.Chapter, r.Effort = ch.Title, entry.Effort()
				rows.Exercises = append(rows.Exercises, r)
			}
		}
		if len(rows.Exercises) > 0 {
			view.Chapters = append(view.Chapters, rows)
		}
		view.Exercises = append(view.Exercises, rows.Exercises...)
	}
	if len(book.Rows) > 0 {
		view.Total = book.Rows[0].Total
	}
	return q.show("home", view)
}

// row sums up what a student has of an exercise.
func (q *request) row(student string, e *course.Exercise, book *gradebook.Book) exerciseRow {
	rules, _ := q.course().Policy.RulesOf(e.Name)
	r := exerciseRow{Name: e.Name, Title: e.Title, Summary: e.Summary, Package: e.Package, Weight: rules.Weight, Limit: rules.Attempts, Max: course.MaxScore}
	r.Due, r.Extended = q.course().Policy.DueFor(student, rules)
	if cell, ok := book.Find(student, e.Name); ok {
		r.Points, r.Rules = cell.Points, cell.Rules
	}
	if list := q.Engine.Attempts(student, e.Name); len(list) > 0 {
		r.Attempts, r.Stage = len(list), string(list[len(list)-1].Stage)
	}
	return r
}

// bookOf computes the gradebook of one student. The attempt with a number of an exercise is
// the one that reports show; 0: the newest.
func (q *request) bookOf(student, exercise string, number int) *gradebook.Book {
	var attempts []gradebook.Attempt
	var missing []gradebook.Missing
	for _, e := range q.course().Exercises {
		for _, a := range q.Engine.Attempts(student, e.Name) {
			if a.Record == nil {
				continue
			}
			attempts = append(attempts, gradebook.Attempt{
				Student: student, Exercise: e.Name, Number: a.Number, Submitted: a.Submitted.In(q.course().Policy.Zone), Source: a.Source,
				Listed: a.Record.Listed, ListedIn: a.Record.ListedIn, Result: public(a.Record.Result), Current: e.Name == exercise && a.Number == number,
			})
		}
		if p, ok := q.Engine.PendingOf(student, e.Name); ok {
			missing = append(missing, gradebook.Missing{Student: p.Student, Exercise: p.Exercise, Why: p.Why, Told: p.PublicReason})
		}
	}
	return q.course().Policy.Book(attempts, missing)
}

// exerciseView is one exercise for a student.
type exerciseView struct {
	exerciseRow
	Text    template.HTML `json:"text"` // of the exercise, as HTML
	Files   []string      `json:"files"`
	List    []attemptRow  `json:"list"` // of attempts, the newest first
	Mine    bool          `json:"-"`
	Trend   template.HTML `json:"-"`
	Board   bool          `json:"board"`
	LimitMB int           `json:"upload_megabytes"`
}

// attemptRow is an attempt in a list.
type attemptRow struct {
	Number       int       `json:"number"`
	Submitted    time.Time `json:"submitted"`
	Stage        string    `json:"stage"`
	Words        string    `json:"words"`
	Verdict      string    `json:"verdict,omitempty"`
	VerdictWords string    `json:"-"`
	Score        *int      `json:"score"` // before the rules of the course; nil: none
	Max          int       `json:"max_score"`
	Counts       bool      `json:"counts"`
	Address      string    `json:"address"`
}

func (q *request) exercisePage() error {
	e, err := q.exercise()
	if err != nil {
		return err
	}
	text, err := readme.Text(e)
	if err != nil {
		return err
	}
	book := q.bookOf(q.person.Login, e.Name, 0)
	view := exerciseView{
		exerciseRow: q.row(q.person.Login, e, book), Text: text, Mine: true, Board: q.course().Policy.Board, LimitMB: maxUpload >> 20,
		List: q.attempts(q.person.Login, e.Name, "/"+e.Name+"/attempts/", book), Files: []string{},
	}
	for _, f := range e.Starter {
		view.Files = append(view.Files, f.Name)
	}
	view.Trend = trend(view.List)
	return q.show("exercise", view)
}

// attempts lists what a student has handed in, the newest first.
func (q *request) attempts(student, exercise, base string, book *gradebook.Book) []attemptRow {
	list := []attemptRow{}
	for _, a := range q.Engine.Attempts(student, exercise) {
		r := attemptRow{Number: a.Number, Submitted: a.Submitted, Stage: string(a.Stage), Words: stageWords(a), Max: course.MaxScore, Address: base + strconv.Itoa(a.Number)}
		if a.Record != nil {
			r.Score, r.Verdict = &a.Record.Result.Score, string(a.Record.Result.Verdict)
			r.VerdictWords = wording.Verdict(a.Record.Result.Verdict)
		}
		if cell, ok := book.Find(student, exercise); ok && cell.Counts != nil && a.Record != nil {
			r.Counts = (cell.Counts.Submitted.Equal(a.Submitted) || cell.Counts.Number == a.Number) && cell.Counts.Result.Seed == a.Record.Result.Seed
		}
		list = append(list, r)
	}
	slices.Reverse(list)
	return list
}

// attemptView is one attempt.
type attemptView struct {
	attemptRow
	Student  string          `json:"student"`
	Exercise string          `json:"exercise"`
	Title    string          `json:"title"`
	Ahead    int             `json:"ahead"`
	Wait     float64         `json:"wait_seconds,omitempty"` // about; 0: not known
	Notice   string          `json:"notice,omitempty"`
	Result   *verdict.Result `json:"result"` // nil: none yet
	Points   *float64        `json:"points"` // that count for the exercise, of whichever attempt
	Counting string          `json:"-"`      // says so where another attempt counts
	Rules    []string        `json:"rules"`
	Report   template.HTML   `json:"-"`
	Live     bool            `json:"-"`
	Events   string          `json:"events"` // the address of what is live
	Source   string          `json:"source"`
	Back     string          `json:"-"`
	Why      string          `json:"why,omitempty"` // for staff
	Worker   string          `json:"worker,omitempty"`
	Newer    string          `json:"newer,omitempty"` // the address of a later attempt
	Staff    bool            `json:"-"`
}

func (q *request) attemptPage() error {
	e, a, err := q.attempt(q.person.Login)
	if err != nil {
		return err
	}
	view, err := q.attemptView(e, a, "/"+e.Name+"/attempts/")
	if err != nil {
		return err
	}
	view.Back = "/" + e.Name
	return q.show("attempt", view)
}

// attempt returns the attempt of a student that the address names.
func (q *request) attempt(student string) (*course.Exercise, service.Attempt, error) {
	e, err := q.exercise()
	if err != nil {
		return nil, service.Attempt{}, err
	}
	list := q.Engine.Attempts(student, e.Name)
	n, err := strconv.Atoi(q.PathValue("number"))
	for _, a := range list {
		if err == nil && a.Number == n {
			return e, a, nil
		}
	}
	advice := "nothing was handed in for " + e.Name + " yet: hand it in on its page"
	if len(list) > 0 {
		advice = fmt.Sprintf("the last one is %d", list[len(list)-1].Number)
	}
	return nil, service.Attempt{}, notFound(fmt.Sprintf("there is no attempt %s at %s", q.PathValue("number"), e.Name), advice)
}

func (q *request) attemptView(e *course.Exercise, a service.Attempt, base string) (*attemptView, error) {
	book := q.bookOf(a.Student, a.Exercise, a.Number)
	v := &attemptView{
		Student: a.Student, Exercise: e.Name, Title: e.Title, Ahead: a.Ahead, Notice: noticesOf(q.course().Policy, a, nth(q.Engine.Attempts(a.Student, a.Exercise), a.Number)),
		Live: a.Stage == service.Waiting || a.Stage == service.Grading, Rules: []string{},
	}
	for _, row := range q.attempts(a.Student, a.Exercise, base, book) {
		if row.Number == a.Number {
			v.attemptRow = row
		} else if row.Number > a.Number && v.Newer == "" {
			v.Newer = row.Address
		}
	}
	v.Events, v.Source = v.Address+"/events", v.Address+"/source"
	if wait := q.Engine.QueueBehind(a.Ahead).Wait; a.Stage == service.Waiting && wait >= 0 {
		v.Wait = wait.Seconds()
	}
	v.Words = q.liveWords(a)
	cell, ok := book.Find(a.Student, a.Exercise)
	if ok {
		v.Points, v.Rules = cell.Points, append(v.Rules, cell.Rules...)
	}
	if a.Record == nil {
		return v, nil
	}
	v.Result = public(a.Record.Result)
	if wantsJSON(q.Request) {
		return v, nil // which has no report
	}
	var b bytes.Buffer
	v.Counting = elsewhere(cell, v.Counts)
	if err := page.GradingMain(&b, v.Result, "", counted(cell, ok && v.Counting == "", a)); err != nil {
		return nil, err
	}
	v.Report = template.HTML(b.String())
	return v, nil
}

// elsewhere says what counts where another attempt does, whose points would mislead above the
// report of this one; empty: this one counts, or none does.
func elsewhere(cell gradebook.Cell, this bool) string {
	if this || cell.Counts == nil || cell.Points == nil {
		return ""
	}
	return gradebook.Number(*cell.Points) + " points count, and they are another attempt's."
}

// counted is what a report tells of the rules of the course. The gradebook numbers what was
// graded; where an attempt was replaced before that, its numbers are not those of the
// site's addresses, and the report lists no attempts.
func counted(cell gradebook.Cell, ok bool, a service.Attempt) *gradebook.Cell {
	if !ok {
		return nil
	}
	if shown := cell.Shown(); cell.Missing == nil && (shown == nil || shown.Number != a.Number) {
		cell.Attempts = nil
	}
	return &cell
}

// trend draws the scores of attempts from the first to the last; empty for fewer than two.
// The table beside it says the same.
func trend(list []attemptRow) template.HTML {
	var scores []int
	for _, a := range list {
		if a.Score != nil {
			scores = append(scores, *a.Score)
		}
	}
	if len(scores) < 2 {
		return ""
	}
	slices.Reverse(scores)
	const width, height, edge = 300, 60, 6
	var points, dots bytes.Buffer
	for i, s := range scores {
		x := edge + float64(i)*(width-2*edge)/float64(len(scores)-1)
		y := height - edge - float64(s)*(height-2*edge)/course.MaxScore
		fmt.Fprintf(&points, "%.1f,%.1f ", x, y)
		fmt.Fprintf(&dots, `<circle cx="%.1f" cy="%.1f" r="3"/>`, x, y)
	}
	return template.HTML(fmt.Sprintf(`<svg class="trend" viewBox="0 0 %d %d" role="img" aria-label="Points of %d graded attempts, from %d to %d"><polyline points="%s"/>%s</svg>`,
		width, height, len(scores), scores[0], scores[len(scores)-1], points.String(), dots.String()))
}
