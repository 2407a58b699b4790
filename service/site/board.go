package site

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// boardView ranks right solutions by how fast and how lean they are.
type boardView struct {
	Exercise string     `json:"exercise"`
	Title    string     `json:"title"`
	Rows     []boardRow `json:"rows"`
	Mine     string     `json:"-"` // the name that this person has chosen
}

// boardRow is one solution. Ratios are to the reference, on the machine that graded it.
type boardRow struct {
	Name   string  `json:"name"`
	Speed  float64 `json:"speed"`  // geometric mean of CPU time; 0: nothing measures it
	Memory float64 `json:"memory"` // of peak memory, likewise
	Me     bool    `json:"-"`
	order  float64
}

// boardNames returns the names that people have chosen, by their logins. Who has chosen
// none is not on the board.
func (q *request) boardNames() (names map[string]string, err error) {
	names = map[string]string{}
	return names, q.readKept(keyBoard, &names)
}

// maxName is how long a name on the board can be, in bytes.
const maxName = 40

// rename sets the name that a person has on the board; an empty one takes them off.
func (q *request) rename() error {
	if !q.course().Policy.Board {
		return notFound("this course has no board", "begin at the list of exercises")
	}
	name := verdict.Printable(q.field("name"))
	if len(name) > maxName {
		return unprocessable("choose a shorter one", "the name is longer than %d bytes", maxName)
	}
	err := editKept(q, keyBoard, func(names map[string]string) (map[string]string, error) {
		if names == nil {
			names = map[string]string{}
		}
		for login, taken := range names {
			if strings.EqualFold(taken, name) && login != q.person.Login && name != "" {
				return nil, unprocessable("choose another one", "the name %s is taken", name)
			}
		}
		if names[q.person.Login] = name; name == "" {
			delete(names, q.person.Login)
		}
		return names, nil
	})
	if err != nil {
		return err
	}
	return q.done("/account")
}

func (q *request) board() error {
	e, err := q.exercise()
	if err != nil {
		return err
	}
	if !q.course().Policy.Board {
		return notFound("this course has no board", "begin at the list of exercises")
	}
	names, err := q.boardNames()
	if err != nil {
		return err
	}
	v := boardView{Exercise: e.Name, Title: e.Title, Rows: []boardRow{}, Mine: names[q.person.Login]}
	best := map[string]boardRow{}
	for login, name := range names {
		for _, a := range q.Engine.Attempts(login, e.Name) {
			if a.Record == nil || !a.Record.Result.AllPoints(nil) {
				continue
			}
			row := newBoardRow(a.Record.Result)
			row.Name, row.Me = name, login == q.person.Login
			if was, ok := best[login]; !ok || row.order < was.order {
				best[login] = row
			}
		}
	}
	for _, row := range best {
		v.Rows = append(v.Rows, row)
	}
	slices.SortFunc(v.Rows, func(a, b boardRow) int { return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.Name, b.Name)) })
	return q.show("board", v)
}

func newBoardRow(r *verdict.Result) boardRow {
	row := boardRow{Speed: meanRatio(r, verdict.Speed), Memory: meanRatio(r, verdict.Memory)}
	row.order = cmp.Or(row.Speed, 1) * cmp.Or(row.Memory, 1)
	row.Speed, row.Memory = wording.Rounded(row.Speed, 2), wording.Rounded(row.Memory, 2)
	return row
}

// meanRatio is the geometric mean of the ratios of a kind; 0 if there are none.
func meanRatio(r *verdict.Result, kind verdict.Kind) float64 {
	sum, n := 0.0, 0.0
	for _, c := range r.Checks {
		if verdict.Kind(c.Kind) == kind && c.Ratio != nil && *c.Ratio > 0 {
			sum, n = sum+math.Log(*c.Ratio), n+1
		}
	}
	if n == 0 {
		return 0
	}
	return math.Exp(sum / n)
}
