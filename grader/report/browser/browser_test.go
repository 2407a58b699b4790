// Package browser opens the pages of reports in a Chromium without a window and holds
// them to what a reader sees, hears and types: in light and dark, on a phone and a desk.
// It takes pictures on the way where PICTURES names a folder for them. The parsers in
// grader/report's own tests hold the pages to what is in them.
package browser_test

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"grade/grader/gradebook"
	"grade/grader/report"
	"grade/grader/report/browser/look"
	"grade/grader/report/sample"
	"grade/grader/verdict"
)

// deadline is for everything that is done with one browser. It takes a minute on an idle
// machine.
const deadline = 45 * time.Minute

// scrollTime is how long a browser may take over what it animates.
const scrollTime = time.Minute

// lab is a browser, with pages to open in it.
type lab struct {
	ctx   context.Context
	files map[string]string // of a course, and of one grading in it
	shots string            // where pictures go
}

// TestInBrowser starts one browser for all that is looked at.
func TestInBrowser(t *testing.T) {
	l := newLab(t)
	for name, test := range map[string]func(*testing.T, *lab){
		"complaints": testComplaints, "looks": testLooks, "sounds": testSounds, "keys": testKeys, "scrolling": testScrolling, "links": testLinks, "sorting": testSorting,
		"hostile": testHostile,
	} {
		t.Run(name, func(t *testing.T) { test(t, l) })
	}
}

// newLab starts a Chromium, which ends with the test. The flags keep it from the network,
// and let it run as root, whom its sandbox refuses: the pages are our own.
func newLab(t *testing.T) *lab {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT TESTED: -short: a browser takes seconds, and has no races of ours")
	}
	name := program()
	if name == "" && os.Getenv("CI") == "" {
		t.Skip("NOT TESTED: no Chromium: install the package chromium")
	}
	require.NotEmpty(t, name, "no Chromium: install the package chromium")
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(name), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"), chromedp.Flag("allow-pre-commit-input", true),
		chromedp.WSURLReadTimeout(deadline))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx), "start %s", name)
	l := &lab{ctx: ctx, shots: pictures(t)}
	l.makeFiles(t)
	return l
}

// pictures returns the folder for pictures: PICTURES, for a person who wants to look at
// them. (A test's own folder for artefacts would have every test run anew with its flag.)
func pictures(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("PICTURES")
	if dir == "" {
		return t.TempDir()
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return dir
}

func program() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	return ""
}

// makeFiles writes the pages of a course of realistic size, and of one grading in it.
func (l *lab) makeFiles(t *testing.T) {
	t.Helper()
	format, ok := report.FormatNamed("html")
	require.True(t, ok)
	book := sample.Course(25, 6)
	var one bytes.Buffer
	student, cell := eventful(book)
	require.NotNil(t, cell)
	r := *cell.Result()
	r.Checks = slices.Clone(r.Checks)
	crashed(r.Checks)
	r.Warnings = []string{"the machine is noisy: the reference differed from itself by 12 %. Close what else runs and grade again for surer figures"}
	require.NoError(t, format.Write(&one, &r, report.Identity{Student: student, Counted: cell}))
	l.files = map[string]string{"course": l.write(t, "course.html", book), "one": l.save(t, "one.html", one.Bytes())}
}

// crashed has the first failed check crash at a line of the source, and another need it.
func crashed(checks []verdict.CheckResult) {
	i := slices.IndexFunc(checks, func(c verdict.CheckResult) bool { return c.Verdict == verdict.WrongAnswer })
	c := &checks[i]
	c.Verdict, c.Detail = verdict.RuntimeError, "panic: runtime error: index out of range"
	c.Places = []verdict.Place{{File: "softmax.go", Line: 41, Excerpt: verdict.Excerpt{
		Before: "\tfor i := range rows {\n\t\tm := highest(rows[i])\n", After: "\t}\n\treturn out\n",
		Source: "\t\tout[i] = append(out[i], math.Exp(rows[i][len(rows)]-m)/sumOfAllTheExponentials(rows[i], m))",
	}}}
	for j := range checks[i+1:] {
		if other := &checks[i+1+j]; other.Verdict == verdict.WrongAnswer {
			other.Cause = c.Name
		}
	}
}

// eventful is a submission in a book that has everything a page can show: something wrong,
// something slow, and rules that did something.
func eventful(b *gradebook.Book) (student string, cell *gradebook.Cell) {
	for _, e := range b.Entries() {
		r := e.Cell.Result()
		failed := func(v verdict.Verdict) bool {
			return slices.ContainsFunc(r.Checks, func(c verdict.CheckResult) bool { return c.Verdict == v })
		}
		if r != nil && failed(verdict.WrongAnswer) && failed(verdict.TooSlow) && len(e.Cell.Rules) > 0 {
			return e.Student, &e.Cell
		}
	}
	return "", nil
}

// write saves the page of a course.
func (l *lab) write(t *testing.T, name string, b *gradebook.Book) string {
	t.Helper()
	format, _ := report.FormatNamed("html")
	var page bytes.Buffer
	format = format.LinkedTo(func(student, exercise string) string { return "./" + student + "-" + exercise + ".html" })
	require.NoError(t, format.WriteCourse(&page, b))
	return l.save(t, name, page.Bytes())
}

func (l *lab) save(t *testing.T, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(l.shots, name)
	require.NoError(t, os.WriteFile(file, data, 0o666))
	return file
}

// screen is what a page is shown on.
type screen struct {
	name          string
	width, height int64
	phone, dark   bool
}

var screens = []screen{
	{"phone-light", 360, 740, true, false}, {"phone-dark", 360, 740, true, true},
	{"desk-light", 1280, 900, false, false}, {"desk-dark", 1280, 900, false, true},
}

// tab is a page that is open.
type tab struct {
	*testing.T
	*lab
	ctx context.Context

	mutex      sync.Mutex
	complaints []string // of the browser: errors, and what the page's policy forbids
}

// open opens a file on a screen, in a tab of its own.
func (l *lab) open(t *testing.T, file string, s screen) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(l.ctx)
	t.Cleanup(cancel)
	p := &tab{T: t, lab: l, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, p.listen))
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	call(p, log.Enable, cdp.Empty{})
	call(p, runtime.Enable, cdp.Empty{})
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: s.width, Height: s.height, DeviceScaleFactor: 1, Mobile: s.phone})
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(file)}
	p.do(chromedp.Navigate(address.String()))
	// A key that comes before a page is drawn is lost.
	require.Eventually(t, func() bool { return ask[int](p, `performance.getEntriesByType("paint").length`) > 0 }, scrollTime, scrollTime/1000, "the page is drawn")
	return p
}

func (p *tab) listen(event any) {
	said := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		said = e.Entry.Text
	case *runtime.EventExceptionThrown:
		said = e.ExceptionDetails.Text
	case *runtime.EventConsoleAPICalled:
		said = "the page writes to the console"
	default:
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.complaints = append(p.complaints, said)
}

// heard are the browser's complaints so far.
func (p *tab) heard() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.complaints
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	require.NoError(p, chromedp.Do(p.ctx, actions...))
}

// call gives a command of the browser's protocol.
func call[P, R any](p *tab, command cdp.Command[P, R], parameters P) R {
	p.Helper()
	result, err := chromedp.Call(p.ctx, command, parameters)
	require.NoError(p, err)
	return result
}

// ask evaluates an expression in the page, with the functions of look.js. The page's own
// policy does not bind the tools of a developer.
func ask[T any](p *tab, expression string) T {
	p.Helper()
	answer, err := chromedp.Run(p.ctx, chromedp.Evaluate[T]("(() => {"+look.Script+"\nreturn "+expression+"})()"))
	require.NoError(p, err, expression)
	return answer
}

// picture saves what the whole page looks like.
func (p *tab) picture(name string) {
	p.Helper()
	const lossless = 100 // and so a PNG
	p.take(name, chromedp.FullScreenshot(lossless))
}

// shot saves what the screen shows.
func (p *tab) shot(name string) {
	p.Helper()
	p.take(name, chromedp.CaptureScreenshot())
}

// take takes a picture, where PICTURES names a folder for it.
func (p *tab) take(name string, how chromedp.Action[[]byte]) {
	p.Helper()
	if os.Getenv("PICTURES") == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, how)
	require.NoError(p, err)
	p.save(p.T, name+".png", png)
}

// testComplaints is what the other tests rest on: the browser sees what they find nothing of.
func testComplaints(t *testing.T, l *lab) {
	good, err := os.ReadFile(l.files["one"])
	require.NoError(t, err)
	bad := bytes.Replace(good, []byte("<h1>"), []byte(`<p style="color:red">x</p><script>alert(1)</script><svg></svg><h1>`), 1)
	bad = bytes.Replace(bad, []byte("</h1>"), []byte("</h1><p><b>"+strings.Repeat("w", 200)+"</b></p>"), 1)
	p := l.open(t, l.save(t, "bad.html", bad), screens[0])
	require.Eventually(t, func() bool { return len(p.heard()) >= 2 }, scrollTime, scrollTime/1000, "the policy forbids a style and a script")
	require.NotEqual(t, len(ask[[]string](p, "svgs()")), len(p.named()["image"]), "a picture has no name")
	require.Positive(t, ask[float64](p, "wider()"), "the page scrolls sideways")
	require.NotEmpty(t, ask[[]string](p, "sticking()"))
}
