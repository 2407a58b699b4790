package main

import (
	"context"
	"fmt"
	"io"
	stdlog "log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/report/browser/look"
	"grade/grader/turn"
)

// browserTime is for everything that is done with one browser; pageTime for one thing that
// a page has to come to, a grading included.
const (
	browserTime = 40 * time.Minute
	pageTime    = 10 * time.Minute
)

// TestServeInBrowser hands in as a student does and looks as an instructor does, in two
// browsers at once, with real gradings between them.
func TestServeInBrowser(t *testing.T) {
	turn.Take(t)
	chrome := chromium(t)
	openEngine(t) // or skip
	s := serveSample(t, "--workers", "1")
	root := &tab{T: t, ctx: chrome}
	ada, staff := root.person("ada"), root.person("instructor")

	ada.enter(s.invite("ada"))
	ada.look("home")
	ada.handInByDrop(s)
	ada.handInByPicker(s)
	ada.handInByPaste(s)
	ada.handInWithoutScript(s)

	root.person("bo").handInOverABrokenStream(s)

	staff.enter(s.link)
	staff.instructor(s)
	for _, p := range []*tab{ada, staff} {
		assert.Empty(t, p.complaints, "the browser complains")
	}
}

// chromium starts a browser that ends with the test.
func chromium(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT TESTED: -short: a browser and real gradings take a minute")
	}
	name := ""
	for _, n := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(n); err == nil && name == "" {
			name = found
		}
	}
	if name == "" && os.Getenv("CI") == "" {
		t.Skip("NOT TESTED: no Chromium: install the package chromium")
	}
	require.NotEmpty(t, name, "no Chromium: install the package chromium")
	ctx, cancel := context.WithTimeout(context.Background(), browserTime)
	t.Cleanup(cancel)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(name), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), chromedp.Flag("allow-pre-commit-input", true),
		chromedp.WSURLReadTimeout(browserTime))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx), "start %s", name)
	return ctx
}

// tab is a page in the browser of one person.
type tab struct {
	*testing.T
	ctx        context.Context
	name       string
	complaints []string
}

// watcher keeps what a live page has said, across the reload at its end: what has come and
// gone in between is what the test is about.
const watcher = `addEventListener("DOMContentLoaded", () => {
	const live = document.getElementById("live")
	if (!live) return
	const note = () => sessionStorage.setItem("said", (sessionStorage.getItem("said") || "") + "\n" + live.innerText)
	new MutationObserver(note).observe(live, {subtree: true, childList: true, characterData: true, attributes: true})
	note()
})`

// person opens a browser of its own for a person: no cookie of another one is in it.
func (p *tab) person(name string) *tab {
	p.Helper()
	ctx, cancel := chromedp.NewContext(p.ctx, chromedp.WithNewBrowserContext())
	p.Cleanup(cancel)
	q := &tab{T: p.T, ctx: ctx, name: name}
	require.NoError(p, chromedp.Listen(ctx, q.listen))
	call(q, log.Enable, cdp.Empty{})
	call(q, runtime.Enable, cdp.Empty{})
	call(q, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watcher})
	return q
}

func (p *tab) listen(event any) {
	switch e := event.(type) {
	case *log.EventEntryAdded:
		p.complaints = append(p.complaints, e.Entry.Text+" "+e.Entry.URL)
	case *runtime.EventExceptionThrown:
		p.complaints = append(p.complaints, e.ExceptionDetails.Text)
	}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, pageTime)
	defer cancel()
	require.NoError(p, chromedp.Do(ctx, actions...), p.name)
}

func call[P, R any](p *tab, command cdp.Command[P, R], parameters P) R {
	p.Helper()
	result, err := chromedp.Call(p.ctx, command, parameters)
	require.NoError(p, err)
	return result
}

// ask evaluates an expression in the page, with the functions of package look.
func ask[T any](p *tab, expression string) T {
	p.Helper()
	answer, err := chromedp.Run(p.ctx, chromedp.Evaluate[T]("(() => {"+look.Script+"\nreturn "+expression+"})()"))
	require.NoError(p, err, expression)
	return answer
}

// until waits until an expression is true of whatever page is there by then.
func (p *tab) until(expression, what string) {
	p.Helper()
	require.Eventually(p, func() bool {
		ok, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		return err == nil && ok // a page that is just being left has no answer
	}, pageTime, 20*time.Millisecond, "%s: %s", p.name, what)
}

// at opens an address, and go follows what is clicked.
func (p *tab) at(s *served, address string) {
	p.Helper()
	p.do(chromedp.Navigate(s.address + address))
}

func (p *tab) click(selector, then string) {
	p.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
	p.until(then, "after a click on "+selector)
}

// enter opens a link and signs in.
func (p *tab) enter(link string) {
	p.Helper()
	p.do(chromedp.Navigate(link))
	p.look("invited")
	p.click("button.main", `location.pathname === "/"`)
}

// screens are what pages are looked at on.
var screens = []struct {
	name          string
	width, height int64
	phone, dark   bool
}{
	{"phone-light", 360, 740, true, false}, {"phone-dark", 360, 740, true, true},
	{"desk-light", 1280, 900, false, false}, {"desk-dark", 1280, 900, false, true},
}

// look looks at the page on each screen, and takes pictures where PICTURES says.
func (p *tab) look(name string) {
	p.Helper()
	for _, s := range screens {
		scheme := map[bool]string{false: "light", true: "dark"}[s.dark]
		call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: s.width, Height: s.height, DeviceScaleFactor: 1, Mobile: s.phone})
		call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		title := name + " on " + s.name
		p.picture(name + "-" + s.name)
		assert.LessOrEqual(p, ask[float64](p, "wider()"), 0.0, "%s: the page scrolls sideways", title)
		assert.Empty(p, ask[[]string](p, "sticking()"), "%s: sticks out", title)
		assert.Empty(p, ask[[]string](p, "faint()"), "%s: hard to read", title)
		assert.Empty(p, ask[[]string](p, "small()"), "%s: hard to hit", title)
		assert.Empty(p, ask[[]string](p, "headers()"), "%s: header of what?", title)
		levels := ask[[]int](p, "headings()")
		for i, level := range levels {
			assert.Equal(p, i == 0, level == 1, "%s: one heading at the top: %v", title, levels)
		}
	}
}

func (p *tab) picture(name string) {
	dir := os.Getenv("PICTURES")
	if dir == "" {
		return
	}
	require.NoError(p, os.MkdirAll(dir, 0o755))
	const lossless = 100 // and so a PNG
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(lossless))
	require.NoError(p, err)
	require.NoError(p, os.WriteFile(filepath.Join(dir, "serve-"+name+".png"), png, 0o666))
}

// solutions writes solutions into folders, as a student has them on a disk.
func solutions(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o600))
	}
	return dir
}

const (
	wrongVariance = "package variance\n\nfunc Variance(x []float64) float64 { return 0 }\n"
	rightVariance = `package variance

func Variance(xs []float64) float64 {
	mean, sum := 0.0, 0.0
	for i, x := range xs {
		d := x - mean
		mean += d / float64(i+1)
		sum += d * (x - mean)
	}
	return sum / max(1, float64(len(xs)))
}
`
)

// handInByDrop drops a folder on the page, and watches its grading to the report.
func (p *tab) handInByDrop(s *served) {
	p.Helper()
	p.at(s, "/")
	p.click(`a[href="/variance"]`, `document.getElementById("drop")`)
	p.look("exercise")
	dir := solutions(p.T, map[string]string{"mine/variance.go": wrongVariance, "mine/variance_test.go": "package variance\n", "mine/.git/config": "x", "mine/notes.txt": "x"})
	box := ask[[]float64](p, `(b => [b.left + b.width / 2, b.top + b.height / 2])((document.getElementById("drop").scrollIntoView({block: "center"}), document.getElementById("drop").getBoundingClientRect()))`)
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: []string{filepath.Join(dir, "mine")}, DragOperationsMask: 1}
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		call(p, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: box[0], Y: box[1], Data: data})
	}
	p.watched(1)
	assert.Contains(p, ask[string](p, `document.body.innerText`), "Mend first")
	assert.NotContains(p, ask[string](p, `document.body.innerText`), "notes.txt", "what no grading looks at is not sent")
}

// watched waits for the report of an attempt, and holds that the way to it was live.
func (p *tab) watched(number int) {
	p.Helper()
	p.until(fmt.Sprintf(`location.pathname === "/variance/attempts/%d"`, number), "the attempt has an address")
	p.until(`document.querySelector(".score")`, "the report")
	said := ask[string](p, `sessionStorage.getItem("said") || ""`)
	for _, word := range []string{"being graded", "building", "TestVariance"} {
		assert.Contains(p, said, word, "was live")
	}
	ask[bool](p, `sessionStorage.clear() ?? true`)
	p.look(fmt.Sprintf("report-%d", number))
}

// handInByPicker chooses an archive's worth of files in the picker.
func (p *tab) handInByPicker(s *served) {
	p.Helper()
	p.click(".again .button", `document.getElementById("drop")`)
	dir := solutions(p.T, map[string]string{"variance.go": strings.Replace(rightVariance, "max(1, float64(len(xs)))", "float64(len(xs))", 1)})
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{filepath.Join(dir, "variance.go")}))
	p.until(`document.getElementById("chosen").textContent.includes("variance.go")`, "what was chosen is told")
	p.do(chromedp.Click(chromedp.CSS("#upload button.main")))
	p.watched(2)
}

// handInByPaste writes a text, first one that is refused.
func (p *tab) handInByPaste(s *served) {
	p.Helper()
	p.at(s, "/variance")
	p.click("#paste summary", `document.getElementById("paste").open`)
	p.paste("package wrong\n")
	p.do(chromedp.Click(chromedp.CSS("#upload button.main")))
	p.until(`!document.getElementById("trouble").hidden`, "what is wrong is told")
	assert.Contains(p, ask[string](p, `document.getElementById("trouble").textContent`), "package wrong")
	p.complaints = slices.DeleteFunc(p.complaints, func(s string) bool { return strings.Contains(s, "422") })
	p.look("refused")
	p.paste(rightVariance)
	p.do(chromedp.Click(chromedp.CSS("#upload button.main")))
	p.watched(3)
	assert.Contains(p, ask[string](p, `document.querySelector(".score").textContent`), "100")
	p.at(s, "/variance")
	p.look("exercise-after")
	assert.Equal(p, 1, ask[int](p, `document.querySelectorAll(".trend polyline").length`), "the trend")
}

func (p *tab) paste(text string) {
	p.Helper()
	ask[bool](p, fmt.Sprintf(`(document.getElementById("text").value = %q, true)`, text))
}

// handInWithoutScript uses the forms that a browser has without JavaScript.
func (p *tab) handInWithoutScript(s *served) {
	p.Helper()
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	p.at(s, "/mean")
	dir := solutions(p.T, map[string]string{"mean.go": "package mean\n\nfunc Mean(x []float64) float64 { return 0 }\n"})
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{filepath.Join(dir, "mean.go")}))
	p.do(chromedp.Click(chromedp.CSS("#upload button.main")))
	p.do(chromedp.WaitVisible(chromedp.CSS(".score"))) // the page loads itself anew
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	p.until(`location.pathname === "/mean/attempts/1"`, "the attempt has an address")
}

// handInOverABrokenStream hands in through a proxy, as the proxy's server is started anew: the
// live page loses its stream, then gets the proxy's own answer, and shows the report all the same.
func (p *tab) handInOverABrokenStream(s *served) {
	p.Helper()
	server, err := url.Parse(s.address)
	require.NoError(p, err)
	broken := &breaking{ReverseProxy: httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(server); r.Out.Host = r.In.Host },
		ErrorLog: stdlog.New(io.Discard, "", 0),
	}}
	proxy := httptest.NewServer(broken)
	p.Cleanup(proxy.Close)
	p.do(chromedp.Navigate(strings.Replace(s.invite("bo"), s.address, proxy.URL, 1)))
	p.click("button.main", `location.pathname === "/"`)
	p.do(chromedp.Navigate(proxy.URL + "/variance"))
	p.paste(rightVariance)
	p.do(chromedp.Click(chromedp.CSS("#paste summary")), chromedp.Click(chromedp.CSS("#upload button.main")))
	p.until(`document.querySelector(".score")`, "the report")
	assert.GreaterOrEqual(p, broken.streams.Load(), int32(2), "the page asked again")
}

// breaking is a proxy that cuts the first stream after its first piece of news, and answers the
// second itself.
type breaking struct {
	httputil.ReverseProxy
	streams atomic.Int32
}

func (b *breaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	stream := int32(0)
	if strings.HasSuffix(r.URL.Path, "/events") {
		stream = b.streams.Add(1)
	}
	switch stream {
	case 1:
		ctx, cut := context.WithCancel(r.Context())
		b.ReverseProxy.ServeHTTP(oneWrite{w, cut}, r.WithContext(ctx))
	case 2:
		http.Error(w, "no server", http.StatusBadGateway)
	default:
		b.ReverseProxy.ServeHTTP(w, r)
	}
}

// oneWrite is an answer that is cut after what is written first.
type oneWrite struct {
	http.ResponseWriter
	cut func()
}

func (w oneWrite) Write(p []byte) (int, error) {
	defer w.cut()
	return w.ResponseWriter.Write(p)
}

func (w oneWrite) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// instructor goes through what staff have.
func (p *tab) instructor(s *served) {
	p.Helper()
	p.at(s, "/course")
	p.until(`document.querySelector(".gradebook button")`, "the gradebook can be sorted")
	p.look("gradebook")
	p.click(`.gradebook tbody td a[href*="/course/students/ada"]`, `location.pathname === "/course/students/ada"`)
	p.look("story")
	p.click(`a[href$="/variance/attempts/1"]`, `document.querySelector(".score")`)
	p.look("report-of-student")
	p.click(`a[href$="/source"]`, `document.querySelector("pre.file")`)
	assert.Contains(p, ask[string](p, `document.querySelector("pre.file").textContent`), "return 0")
	p.look("source")
	for _, address := range []string{"/course/queue", "/course/exercises/variance", "/course/people", "/account", "/variance/board"} {
		p.at(s, address)
		p.look(strings.ReplaceAll(strings.TrimPrefix(address, "/"), "/", "-"))
	}
	p.at(s, "/course/extensions")
	ask[bool](p, `(document.getElementById("student").value = "bo", document.getElementById("due").value = "2099-12-24T12:00", true)`)
	p.click("main button.main", `document.querySelector("#given")`)
	p.look("extensions")
	p.at(s, "/course/regrade")
	p.click("main button.main", `document.body.innerText.includes("regraded 0, changed 0")`)
	p.look("regrade")
	assert.Contains(p, ask[string](p, `document.body.innerText`), "not graded 0")
}
