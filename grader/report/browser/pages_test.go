package browser_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/report/sample"
)

// testLooks looks at each page on each screen.
func testLooks(t *testing.T, l *lab) {
	for name, file := range l.files {
		for _, s := range screens {
			p := l.open(t, file, s)
			p.picture(name + "-" + s.name)
			p.opened()
			if s.phone == s.dark {
				p.picture(name + "-" + s.name + "-open")
			}
			title := name + " on " + s.name
			assert.LessOrEqual(t, ask[float64](p, "wider()"), 0.0, "%s: the page scrolls sideways", title)
			assert.Empty(t, ask[[]string](p, "sticking()"), "%s: sticks out", title)
			assert.Empty(t, ask[[]string](p, "tall()"), "%s: a column is too narrow", title)
			assert.Empty(t, ask[[]string](p, "faint()"), "%s: hard to read", title)
			assert.Empty(t, ask[[]string](p, "shapes()"), "%s: hard to see", title)
			assert.Empty(t, ask[[]string](p, "small()"), "%s: hard to hit", title)
			if light := ask[float64](p, "brightness()"); s.dark {
				assert.Less(t, light, 0.1, title)
			} else {
				assert.Greater(t, light, 0.9, title)
			}
			assert.Empty(t, p.heard(), "%s: the browser complains", title)
		}
	}
}

// opened opens all that can be, so that it is looked at as well.
func (p *tab) opened() {
	p.Helper()
	ask[bool](p, `document.querySelectorAll("details").forEach(d => d.open = true) ?? true`)
}

// testSounds finds what a page is made of where those who hear it do.
func testSounds(t *testing.T, l *lab) {
	want := map[string]map[string][]string{
		"course": {
			"heading":    {"Machine Learning Systems, spring 2026", "Gradebook", "Scores", "Failed checks", "Time and memory", "Students", "matmul"},
			"navigation": {"Contents"},
			"region":     {"Gradebook"},
			"table":      {"Gradebook", "matmul"},
			"image":      {"Distribution of points in matmul", "The checks of matmul that fail most", "Time and memory of all submissions of matmul as multiples of the reference"},
		},
		"one": {
			"heading": {"softmax", "Mend first", "Attempts", "Notes", "How it was graded"},
			"table":   {"Attempts"},
			"image":   {"Speed as multiples of the reference", "Memory as multiples of the reference"},
		},
	}
	for name, file := range l.files {
		p := l.open(t, file, screens[2])
		p.opened()
		heard := p.named()
		for role, names := range want[name] {
			for _, n := range names {
				assert.Contains(t, heard[role], n, "%s: no %s of this name", name, role)
			}
		}
		for _, role := range []string{"image", "table", "region", "navigation", "link", "heading", "columnheader", "rowheader", "DisclosureTriangle"} {
			assert.NotContains(t, heard[role], "", "%s: a %s without a name", name, role)
		}
		assert.Len(t, heard["image"], len(ask[[]string](p, "svgs()")), "%s: every picture is one", name)
		assert.Empty(t, ask[[]string](p, "headers()"), "%s: header of what?", name)
		last := 0
		for i, level := range ask[[]int](p, "headings()") {
			assert.Equal(t, i == 0, level == 1, "%s: one heading at the top", name)
			assert.LessOrEqual(t, level, last+1, "%s: a level of headings is left out", name)
			last = level
		}
	}
}

// named are the names of everything that a screen reader says, by role.
func (p *tab) named() map[string][]string {
	p.Helper()
	names := map[string][]string{}
	for _, n := range call(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if role := p.text(n.Role); !n.Ignored && role != "" {
			names[role] = append(names[role], p.text(n.Name))
		}
	}
	return names
}

func (p *tab) text(v *accessibility.Value) (s string) {
	if v != nil {
		require.NoError(p, json.Unmarshal(v.Value, &s))
	}
	return s
}

// testKeys reaches everything that can be used by keys, in the order in which it stands,
// and sees where it is.
func testKeys(t *testing.T, l *lab) {
	for name, file := range l.files {
		p := l.open(t, file, screens[0])
		stops := ask[int](p, "stops()")
		require.NotZero(t, stops)
		for i := range stops {
			p.press(kb.Tab)
			f := p.focus()
			require.Equal(t, i, f.At, "%s: the focus is on %s", name, f.What)
			require.True(t, f.Seen, "%s: the focus on %s is not seen", name, f.What)
		}
	}
}

// focused says where the focus is.
type focused struct {
	At   int
	What string
	Seen bool
}

func (p *tab) focus() focused { p.Helper(); return ask[focused](p, "focus()") }

func (p *tab) press(key string) {
	p.Helper()
	p.do(chromedp.KeyEvent(key))
}

// testScrolling scrolls a table that is wider than a phone in its box, by keys, and the
// names stay.
func testScrolling(t *testing.T, l *lab) {
	p := l.open(t, l.files["course"], screens[0])
	p.do(chromedp.Focus(".box"))
	const scrolled = `document.querySelector(".box").scrollLeft`
	const name = `document.querySelector(".gradebook tbody th").getBoundingClientRect().left`
	before := ask[float64](p, name)
	require.Eventually(t, func() bool {
		p.press(kb.ArrowRight) // again, as a person would whose machine is slow
		return ask[float64](p, scrolled) > 20
	}, scrollTime, scrollTime/100, "the key scrolls")
	assert.InDelta(t, before, ask[float64](p, name), 1, "the names stay where they are")
	assert.Zero(t, ask[float64](p, "scrollX"), "the page does not scroll")
	p.shot("scrolled")
}

// testLinks follows a link to a student, which opens what it leads to.
func testLinks(t *testing.T, l *lab) {
	p := l.open(t, l.files["course"], screens[2])
	const open = `document.querySelector("#student20").closest("details").open`
	require.False(t, ask[bool](p, open))
	p.do(chromedp.Focus(`a[href="#student20"]`))
	p.press(kb.Enter)
	require.Eventually(t, func() bool { return ask[bool](p, open) }, scrollTime, scrollTime/100)
	p.do(chromedp.Focus(`details.person summary`))
	p.press(kb.Enter)
	assert.True(t, ask[bool](p, `document.querySelector("details.person").open`), "and so does a key")
}

// testSorting sorts the gradebook by keys, and filters it.
func testSorting(t *testing.T, l *lab) {
	p := l.open(t, l.files["course"], screens[2])
	const totals = `[...document.querySelectorAll(".gradebook tbody tr")].map(r => parseFloat(r.cells[1].dataset.value)).filter(x => !isNaN(x))`
	const shown = `[...document.querySelectorAll(".gradebook tbody tr")].filter(visible).length`
	before, all := ask[[]float64](p, totals), ask[int](p, shown)
	require.False(t, slices.IsSorted(before))
	slices.Sort(before)
	p.do(chromedp.Focus(`.gradebook thead th:nth-child(2) button`))
	p.press(kb.Enter)
	assert.Equal(t, before, ask[[]float64](p, totals))
	assert.Equal(t, "ascending", ask[string](p, `document.querySelector(".gradebook thead th:nth-child(2)").ariaSort`))
	p.press(kb.Enter)
	slices.Reverse(before)
	assert.Equal(t, before, ask[[]float64](p, totals))
	p.do(chromedp.Focus(`.filter input`))
	p.press("late")
	some := ask[int](p, shown)
	assert.True(t, 0 < some && some < all, "%d of %d", some, all)
	assert.Equal(t, fmt.Sprintf("%d of %d students", some, all), ask[string](p, `document.querySelector(".filter output").textContent`))
	assert.Empty(t, p.heard())
	p.shot("filtered")
}

// testHostile opens a course whose names are as long as they can be and would like to be
// more than names.
func testHostile(t *testing.T, l *lab) {
	book := sample.Course(3, 2)
	evil := `<img src=x onerror=alert(1)><script>alert(1)</script><style>*{color:red}</style>` + strings.Repeat("W", 300)
	book.Title, book.Rows[0].Student, book.Columns[0].Exercise = evil, evil, evil
	for _, row := range book.Rows {
		for i := range row.Cells {
			row.Cells[i].Rules = append(row.Cells[i].Rules, evil)
		}
	}
	p := l.open(t, l.write(t, "hostile.html", book), screens[0])
	p.opened()
	assert.Empty(t, ask[[]string](p, "sticking()"))
	assert.LessOrEqual(t, ask[float64](p, "wider()"), 0.0)
	assert.Empty(t, p.heard())
	p.picture("hostile")
}
