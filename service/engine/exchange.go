package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"grade/grader/fault"
	"grade/grader/results"
	"grade/grader/results/file"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/grader/wholefile"
	"grade/service"
)

// attemptsFile holds what was handed in and has no record, beside the files of a batch: what
// was replaced, what waits. A batch does not read it.
const attemptsFile = "attempts.jsonl"

// Exchanged counts what an export or an import has written.
type Exchanged struct {
	Attempts    int `json:"attempts"` // handed in
	Records     int `json:"records"`
	Pending     int `json:"pending"`
	Submissions int `json:"submissions"` // whose files were written
}

// Export writes all that is kept to a folder, in the files of grade batch. Into a folder
// that has an earlier export it writes what is new, so that a backup can be repeated. A new
// folder is for its owner alone: it has the work and the marks of students.
func (e *Engine) Export(ctx context.Context, dir string) (n Exchanged, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return n, &fault.Error{Message: "export to " + dir, Advice: "name a folder that you may write in", Err: err}
	}
	to, err := file.Open(dir)
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	e.mu.Lock()
	records, attempts := slices.Clone(e.state.index.All()), e.state.allHanded()
	e.mu.Unlock()
	pending := e.store.Pending()
	was, err := e.exportedTo(dir, to)
	if err != nil {
		return n, err
	}
	// Files come first: a record is not there before what it is about.
	if n.Submissions, err = e.exportFiles(ctx, to, records, attempts); err != nil {
		return n, fmt.Errorf("export: %w", err)
	}
	there := identities(to.All())
	for _, r := range records {
		if !there[identityOf(r)] {
			if err := to.Append(r); err != nil {
				return n, fmt.Errorf("export: %w", err)
			}
			n.Records++
		}
	}
	if n.Pending, err = e.exportPending(to, pending); err != nil {
		return n, fmt.Errorf("export: %w", err)
	}
	n.Attempts = len(lacking(was, attempts))
	return n, writeAttempts(dir, append(lacking(attempts, was), attempts...))
}

// exportedTo returns the attempts of an earlier export. It refuses a folder that has other work
// under the number of an attempt here: it is another service's.
func (e *Engine) exportedTo(dir string, to *file.Store) ([]attemptEntry, error) {
	was, err := readAttempts(dir)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return was, e.fits(to.All(), was, "export", "export into another folder: this one has the work of another service")
}

// lacking returns the attempts in list that a list does not have. Those of an earlier export
// stay: a service that was set up anew has not imported them yet.
func lacking(have, list []attemptEntry) (rest []attemptEntry) {
	there := map[cellID][]int{}
	for _, a := range have {
		there[a.cell()] = append(there[a.cell()], a.Number)
	}
	for _, a := range list {
		if !slices.Contains(there[a.cell()], a.Number) {
			rest = append(rest, a)
		}
	}
	return rest
}

// exportPending makes what is pending in a folder what is pending here, and counts what is new:
// an earlier export may have told of work that has a verdict now. What is of nothing here stays.
func (e *Engine) exportPending(to *file.Store, pending []results.Pending) (n int, err error) {
	waits := map[results.PendingID]bool{}
	var outcomes []results.Outcome
	for _, p := range pending {
		waits[p.ID()] = true
		outcomes = append(outcomes, results.Outcome{Pending: p})
	}
	n = len(pending)
	for _, p := range to.Pending() {
		if waits[p.ID()] {
			n--
			continue
		}
		if len(e.Attempts(p.Student, p.Exercise)) == 0 {
			continue
		}
		if _, err := to.Forget(p.Student, p.Exercise); err != nil {
			return 0, err
		}
	}
	return n, to.UpdatePending(outcomes)
}

// allHanded lists what was handed in, in the order of the queue. What has yet to be graded says
// so: where it is imported, nothing knows that a worker had it. One without a verdict is graded
// again where it is imported, unless others came after it: if only the first ones count, its
// points would take the place of theirs, which staff have to want.
func (s *state) allHanded() (list []attemptEntry) {
	var all []*handed
	for _, c := range s.cells {
		all = append(all, c.handed...)
	}
	slices.SortFunc(all, func(a, b *handed) int {
		if a.place < b.place {
			return -1
		}
		return 1
	})
	for _, h := range all {
		a := h.attemptEntry
		c := s.cells[a.cell()]
		stage := s.stageOf(c, h)
		a.Kept = stage != service.Graded && stage != service.Replaced
		if a.Failure = nil; stage == service.NoVerdict && h.Number < s.lastNumber(c) {
			a.Failure = h.failure
		}
		list = append(list, a)
	}
	return list
}

func writeAttempts(dir string, list []attemptEntry) error {
	var b bytes.Buffer
	for _, a := range list {
		line, err := json.Marshal(a)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	return wholefile.Keep(filepath.Join(dir, attemptsFile), b.Bytes())
}

// exportFiles writes the files of each submission that is not there.
func (e *Engine) exportFiles(ctx context.Context, to *file.Store, records []results.Record, attempts []attemptEntry) (n int, err error) {
	contents := map[string]handIn{}
	for _, r := range records {
		contents[r.Content] = handIn{Dir: r.Path, Content: r.Content}
	}
	for _, a := range attempts {
		contents[a.Content] = a.handIn() // it has the problems, without which the content of what was refused is another
	}
	for content, h := range contents {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if to.HasFiles(content) || len(h.Problems) > 0 {
			continue
		}
		s, err := e.snapshot(ctx, h)
		if errors.Is(err, fs.ErrNotExist) { // it was refused, or imported without its files
			continue
		}
		if err == nil {
			err = to.KeepFiles(content, s)
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// snapshot reads what was handed in.
func (e *Engine) snapshot(ctx context.Context, h handIn) (*submission.Snapshot, error) {
	data, err := e.submissions.get(ctx, h.Content)
	if err != nil {
		return nil, err
	}
	return unpacked(data, h)
}

// identity tells records apart: an attempt that was graded anew has several.
type identity struct {
	student, exercise, key string
	attempt                int
	recorded               int64
}

func identityOf(r results.Record) identity {
	return identity{r.Student, r.Exercise, r.Key, r.Attempt, r.Recorded.UnixNano()}
}

func identities(list []results.Record) map[identity]bool {
	there := map[identity]bool{}
	for _, r := range list {
		there[identityOf(r)] = true
	}
	return there
}

// Import reads what a batch or an export has written to a folder, and leaves out what is
// there. It refuses all of it if an attempt has another content here. What waited for a
// worker waits again.
func (e *Engine) Import(ctx context.Context, dir string) (n Exchanged, err error) {
	from, err := file.Read(dir)
	if err != nil {
		return n, err
	}
	attempts, err := readAttempts(dir)
	if err != nil {
		return n, fmt.Errorf("import: %w", err)
	}
	records := from.All()
	if err := e.fits(records, attempts, "import", "import into a service without submissions: give it another folder, --data DIR"); err != nil {
		return n, err
	}
	for _, step := range []func() error{
		func() error { n.Submissions, err = e.importFiles(ctx, from, records, attempts); return err },
		// Records come first: an attempt that has one never waits for a worker, so that no
		// sweep meanwhile has it graded once more.
		func() error { n.Records, err = e.importRecords(ctx, records); return err },
		func() error { n.Attempts, err = e.importAttempts(ctx, attempts); return err },
		func() error { n.Pending, err = e.importPending(from.Pending(), attempts); return err },
		func() error { return e.sweep(ctx) },
	} {
		if err := step(); err != nil {
			return n, fmt.Errorf("import: %w", err)
		}
	}
	return n, nil
}

func readAttempts(dir string) (list []attemptEntry, err error) {
	f, err := os.Open(filepath.Join(dir, attemptsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for decoder := json.NewDecoder(lines); decoder.More(); {
		var a attemptEntry
		if err := decoder.Decode(&a); err != nil || a.Schema != attemptSchema || a.Number < 1 || checkName(a.Student) != nil {
			return nil, errors.Join(fmt.Errorf("%s:%d: no attempt of the kind %s", f.Name(), len(list)+1, attemptSchema), err)
		}
		list = append(list, a)
	}
	return list, nil
}

// fits refuses what contradicts what is here.
func (e *Engine) fits(records []results.Record, attempts []attemptEntry, verb, advice string) error {
	check := func(student, exercise string, number int, content string) error {
		a, ok := e.Attempt(student, exercise, number)
		if !ok || a.Content == content {
			return nil
		}
		return &fault.Error{
			Message: fmt.Sprintf("%s: attempt %d of %s at %s is another one here", verb, number, student, exercise),
			Advice:  advice,
		}
	}
	for _, a := range attempts {
		if err := check(a.Student, a.Exercise, a.Number, a.Content); err != nil {
			return err
		}
	}
	for _, r := range records {
		if err := checkName(r.Student); err != nil {
			return err
		}
		if err := check(r.Student, r.Exercise, r.Attempt, r.Content); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) importFiles(ctx context.Context, from *file.Store, records []results.Record, attempts []attemptEntry) (n int, err error) {
	list := slices.Clone(records)
	for _, a := range attempts {
		if len(a.Problems) == 0 {
			list = append(list, results.Record{Content: a.Content, Result: emptyResult})
		}
	}
	seen := map[string]bool{}
	for _, r := range list {
		if seen[r.Content] || !from.HasFiles(r.Content) {
			continue
		}
		seen[r.Content] = true
		there, err := e.submissions.has(ctx, r.Content)
		if err != nil || there {
			if err != nil {
				return n, err
			}
			continue
		}
		s, err := from.Files(r)
		if err == nil {
			err = e.usable()
		}
		if err == nil {
			err = e.submissions.put(ctx, r.Content, func() ([]byte, error) { return packed(s) })
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (e *Engine) importAttempts(ctx context.Context, attempts []attemptEntry) (n int, err error) {
	for _, a := range attempts {
		id := a.cell()
		e.mu.Lock()
		there, last := e.state.cell(id).of(a.Number) != nil, e.state.cell(id).last
		e.mu.Unlock()
		if there {
			continue
		}
		if _, err := e.keep(ctx, e.names.cell(kindAttempt, id), a, &last); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (e *Engine) importRecords(ctx context.Context, records []results.Record) (n int, err error) {
	e.mu.Lock()
	there := identities(e.state.index.All())
	e.mu.Unlock()
	for _, r := range records {
		if there[identityOf(r)] {
			continue
		}
		if err := errors.Join(ctx.Err(), e.usable()); err != nil {
			return n, err
		}
		if err := e.store.Append(r); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// importPending takes what a batch has left without a verdict. What was handed in to a
// service is in the attempts.
func (e *Engine) importPending(pending []results.Pending, attempts []attemptEntry) (n int, err error) {
	handed := map[cellID]bool{}
	for _, a := range attempts {
		handed[a.cell()] = true
	}
	for _, p := range pending {
		if handed[cellID{p.Student, p.Exercise}] {
			continue
		}
		if err := e.store.UpdatePending([]results.Outcome{{Pending: p}}); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// emptyResult stands for the result of an attempt that has none yet.
var emptyResult = &verdict.Result{}
