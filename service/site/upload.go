package site

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"grade/exercises/course"
	"grade/exercises/course/scaffold"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/service"
)

// The caps on an upload hold while it is read.
const (
	maxUpload = 16 << 20 // bytes, of all
	maxParts  = 2000     // files
)

// DefaultUploadTime is how long a client may take to send an upload.
const DefaultUploadTime = 2 * time.Minute

// timeSource names the time of what is handed in here, in gradebooks.
const timeSource = "the server's clock"

// handIn takes a submission, and answers when it is kept for good.
func (q *request) handIn() error {
	e, err := q.exercise()
	if err != nil {
		return err
	}
	if err := tooMany(q.limits.uploads.Take(q.person.Login)); err != nil {
		return err
	}
	end, ok := q.sending.begin(q.person.Login)
	if !ok {
		return &Problem{Status: http.StatusTooManyRequests, Detail: fmt.Sprintf("%d uploads of yours are still on their way", maxSending), Advice: "wait until one of them has ended", retry: 1}
	}
	defer end()
	a, err := q.takeIn(e)
	if err != nil {
		q.metrics.uploads.WithLabelValues("refused").Inc()
		return err
	}
	q.metrics.uploads.WithLabelValues("accepted").Inc()
	q.Log.InfoContext(q.Context(), "handed in", "student", a.Student, "exercise", a.Exercise, "attempt", a.Number, "content", a.Content)
	address := fmt.Sprintf("/%s/attempts/%d", e.Name, a.Number)
	if !wantsJSON(q.Request) {
		http.Redirect(q.w, q.Request, address, http.StatusSeeOther)
		return nil
	}
	view, err := q.attemptView(e, a, "/"+e.Name+"/attempts/")
	if err != nil {
		return err
	}
	q.w.Header().Set("Location", address)
	return q.json(http.StatusCreated, view)
}

func (q *request) takeIn(e *course.Exercise) (service.Attempt, error) {
	s, err := q.readUpload(e)
	if err != nil {
		return service.Attempt{}, err
	}
	if len(s.Problems) > 0 {
		p := unprocessable("mend that and hand it in again; this was no attempt", "this cannot be handed in: %s", saidOf(s.Problems[0]))
		p.Problems = s.Problems
		return service.Attempt{}, p
	}
	if s.Package == "" {
		return service.Attempt{}, unprocessable("begin each file with: package "+e.Package+"; this was no attempt", "no file has a package clause, so that this is no Go code")
	}
	if s.Package != e.Package {
		return service.Attempt{}, unprocessable("hand it in on the page of its exercise, or mend the package clause; this was no attempt",
			"%s is package %s, and %s is package %s", s.PackageFile, verdict.Printable(s.Package), e.Name, e.Package)
	}
	if err := tooMany(q.limits.kept.Take(q.person.Login)); err != nil {
		return service.Attempt{}, err
	}
	now := q.Now()
	return q.Engine.HandIn(q.Context(), service.Upload{
		Student: q.person.Login, Exercise: e.Name, Snapshot: s, At: now, Source: timeSource, Beside: q.countsLess(e.Name, now),
	})
}

// countsLess reports of earlier attempts whether one without a verdict would count for more than
// one that is handed in now, and is to be graded in any case: one that a worker has, too, which
// may go down.
func (q *request) countsLess(exercise string, now time.Time) func([]service.Attempt) bool {
	p, student := q.course().Policy, q.person.Login
	return func(earlier []service.Attempt) bool {
		return slices.ContainsFunc(earlier, func(a service.Attempt) bool {
			open := a.Stage == service.Waiting || a.Stage == service.Grading
			return open && p.CountsAt(student, exercise, a.Submitted) > p.CountsAt(student, exercise, now)
		})
	}
}

func saidOf(p verdict.Problem) string {
	if p.File == "" {
		return p.Message
	}
	return p.File + ": " + p.Message
}

// readUpload reads a form with files, an archive or a text.
func (q *request) readUpload(e *course.Exercise) (*submission.Snapshot, error) {
	// A client that stops sending is cut off, and told so: it holds a connection and memory.
	_ = http.NewResponseController(q.w).SetReadDeadline(time.Now().Add(q.UploadTime)) // a recorder in a test has none
	q.Body = http.MaxBytesReader(q.w, q.Body, maxUpload)
	form, err := q.MultipartReader()
	if err != nil {
		return nil, &Problem{Status: http.StatusUnsupportedMediaType, Detail: "a submission is sent as a form with files (multipart/form-data)", Advice: "use the page, or: grade submit --server " + q.Address}
	}
	u := upload{exercise: e}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return u.snapshot()
		}
		if err == nil {
			err = u.add(part)
		}
		if err != nil {
			return nil, q.brokenOff(err)
		}
	}
}

// brokenOff is the answer to an upload that did not come to its end.
func (q *request) brokenOff(err error) error {
	var slow net.Error
	var large *http.MaxBytesError
	var known *Problem
	switch {
	case errors.As(err, &known), errors.As(err, &large):
		return err
	case errors.As(err, &slow) && slow.Timeout():
		return &Problem{Status: http.StatusRequestTimeout, Detail: fmt.Sprintf("the upload did not end within %v", q.UploadTime), Advice: "nothing of it was kept: hand in again"}
	}
	return &Problem{Status: http.StatusBadRequest, Detail: "the upload broke off", Advice: "nothing of it was kept: hand in again"}
}

// upload collects the files of a form.
type upload struct {
	exercise *course.Exercise
	files    []submission.File
	archives []submission.File
	parts    int
}

// add reads one part of the form. Of what is no source, the name alone is kept, because
// reports list it.
func (u *upload) add(part *multipart.Part) error {
	if u.parts++; u.parts > maxParts {
		return unprocessable("hand in the Go files of the solution, and nothing else", "these are more than %d files", maxParts)
	}
	name := sentName(part)
	switch {
	case part.FormName() == "text":
		return u.paste(part)
	case part.FormName() != "files" || name == "":
		_, err := io.Copy(io.Discard, part)
		return err
	case !filepath.IsLocal(name) || strings.Contains(name, `\`):
		return unprocessable("hand in the folder itself, or an archive that was made inside it", "the name %s leads out of the folder", verdict.Printable(name))
	}
	return u.file(path.Clean(name), part)
}

func (u *upload) file(name string, part io.Reader) error {
	most := int64(submission.MaxFileSize + 1)
	if submission.IsArchive(name) {
		most = maxUpload
	}
	data, err := io.ReadAll(io.LimitReader(part, most))
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, part); err != nil {
		return err
	}
	f := submission.File{Name: name, Data: data}
	switch {
	case submission.IsArchive(name):
		u.archives = append(u.archives, f)
		return nil
	case !strings.HasSuffix(name, ".go"):
		f.Data = nil
	}
	u.files = append(u.files, f)
	return nil
}

// paste takes a text as the one file of the solution.
func (u *upload) paste(part io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(part, 2*submission.MaxFileSize+1))
	if err != nil || len(bytes.TrimSpace(data)) == 0 {
		return err
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) // as forms send the end of a line; they may be half of the text
	u.files = append(u.files, submission.File{Name: u.exercise.Package + ".go", Data: data})
	return nil
}

// sentName returns the name that a part's file has, with its folders, which
// [multipart.Part.FileName] takes off.
func sentName(part *multipart.Part) string {
	_, parameters, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return parameters["filename"]
}

// snapshot makes a submission of what came.
func (u *upload) snapshot() (*submission.Snapshot, error) {
	const choose = "choose the Go files of your solution, its folder, or an archive of it"
	switch {
	case len(u.files)+len(u.archives) == 0:
		return nil, unprocessable(choose, "nothing was handed in")
	case len(u.archives) > 1 || len(u.archives) == 1 && slices.ContainsFunc(u.files, func(f submission.File) bool { return f.Data != nil }):
		return nil, unprocessable("hand in one archive, or Go files", "an archive came with other files, and either could be meant")
	case len(u.archives) == 1:
		return fromArchive(u.archives[0])
	}
	withoutFolder(u.files)
	seen := map[string]bool{}
	for _, f := range u.files {
		if seen[f.Name] {
			return nil, unprocessable("hand in one of them", "%s came twice", verdict.Printable(f.Name))
		}
		seen[f.Name] = true
	}
	s, err := submission.FromFiles(u.exercise.Name, u.files)
	if err != nil {
		return nil, unprocessable(choose, "there is no Go file in what was handed in")
	}
	return s, nil
}

// withoutFolder takes off the folder that all files are in, as a browser sends it.
func withoutFolder(files []submission.File) {
	folder, _, ok := strings.Cut(files[0].Name, "/")
	for _, f := range files {
		ok = ok && strings.HasPrefix(f.Name, folder+"/")
	}
	if !ok {
		return
	}
	for i := range files {
		files[i].Name = strings.TrimPrefix(files[i].Name, folder+"/")
	}
}

// fromArchive reads an archive, which package submission takes from a file.
func fromArchive(f submission.File) (*submission.Snapshot, error) {
	dir, err := os.MkdirTemp("", "grade-upload-")
	if err != nil {
		return nil, fmt.Errorf("take an upload: %w", err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "submission"+strings.ToLower(strings.TrimPrefix(f.Name, submission.TrimArchive(f.Name))))
	if err := os.WriteFile(name, f.Data, 0o600); err != nil {
		return nil, fmt.Errorf("take an upload: %w", err)
	}
	s, err := submission.Take(name)
	if err != nil {
		return nil, err
	}
	s.Dir = verdict.Printable(path.Base(f.Name)) // the file is gone, and no business of a report
	return s, nil
}

// source sends the files of one's own attempt.
func (q *request) source() error { return q.sendSource(q.person.Login) }

// sendSource shows the files of an attempt, or sends them as an archive.
func (q *request) sendSource(student string) error {
	e, a, err := q.attempt(student)
	if err != nil {
		return err
	}
	s, err := q.Engine.Source(q.Context(), student, e.Name, a.Number)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notFound("the files of this attempt were not kept", "an attempt that came with an import may have none")
	case err != nil:
		return fmt.Errorf("read attempt %d of %s at %s: %w", a.Number, student, e.Name, err)
	}
	if q.URL.Query().Get("as") == "zip" {
		return q.zip(fmt.Sprintf("%s-%d.zip", e.Name, a.Number), s.Files)
	}
	view := sourceView{Student: student, Exercise: e.Name, Number: a.Number, Back: strings.TrimSuffix(q.URL.Path, "/source"), Files: []sourceFile{}}
	for _, f := range s.Files {
		view.Files = append(view.Files, sourceFile{f.Name, string(f.Data)})
	}
	return q.show("source", view)
}

type (
	sourceView struct {
		Student  string       `json:"student"`
		Exercise string       `json:"exercise"`
		Number   int          `json:"number"`
		Files    []sourceFile `json:"files"`
		Back     string       `json:"-"`
	}
	sourceFile struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
)

// starter sends what an exercise begins with.
func (q *request) starter() error {
	e, err := q.exercise()
	if err != nil {
		return err
	}
	var files []submission.File
	for _, f := range scaffold.Starter(e) {
		files = append(files, submission.File{Name: f.Name, Data: f.Data})
	}
	return q.zip(e.Name+".zip", files)
}

func (q *request) zip(name string, files []submission.File) error {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(path.Join(strings.TrimSuffix(name, ".zip"), f.Name))
		if err == nil {
			_, err = w.Write(f.Data)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return q.send(name, "application/zip", b.Bytes())
}

// send sends a file to be saved.
func (q *request) send(name, kind string, data []byte) error {
	q.w.Header().Set("Content-Type", kind)
	q.w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	_, _ = q.w.Write(data) // the reader is gone
	return nil
}
