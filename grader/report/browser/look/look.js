// What the tests of the pages ask a page. Each function answers with what is wrong, or with
// what there is.

const visible = e => e.checkVisibility({visibilityProperty: true, opacityProperty: true}) && e.getClientRects().length > 0
const named = e => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (e.getAttribute("class") ? "." + e.getAttribute("class") : "")

// wider is how many pixels the page is wider than the screen.
const wider = () => document.documentElement.scrollWidth - document.documentElement.clientWidth

// sticking are the elements that stick out of the part of the page that is for them, but
// for what scrolls in a box of its own.
const sticking = () => {
	const main = document.querySelector("main"), style = getComputedStyle(main), box = main.getBoundingClientRect()
	const left = box.left + parseFloat(style.paddingLeft) - 1, right = box.right - parseFloat(style.paddingRight) + 1
	return [...main.querySelectorAll("*")].filter(visible).filter(e => !e.closest(".box *, svg *, .heard")).filter(e => {
		const r = e.getBoundingClientRect()
		return r.left < left || r.right > right
	}).map(named)
}

// tall are the rows of several columns that take more than half a screen: one is too narrow.
const tall = () => [...document.querySelectorAll("tr")].filter(visible).filter(e => e.cells.length > 1).filter(e => e.getBoundingClientRect().height > innerHeight / 2).map(named)

// headings are the levels of the headings, in order.
const headings = () => [...document.querySelectorAll("h1,h2,h3,h4,h5,h6")].map(h => Number(h.tagName[1]))

const svgs = () => [...document.querySelectorAll("svg")].map(named)

// headers are the cells of headers that do not say of what.
const headers = () => [...document.querySelectorAll("th:not([scope])")].map(named)

// colour reads a computed colour as red, green, blue from 0 to 1, and alpha.
const colour = s => {
	const n = s.match(/-?[\d.]+(e-?\d+)?/g).map(Number)
	return s.startsWith("rgb") ? [n[0] / 255, n[1] / 255, n[2] / 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1]
}

// luminance and contrast are those of WCAG 2.
const luminance = c => {
	const [r, g, b] = c.map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
	return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
const contrast = (a, b) => {
	const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p)
	return (x + 0.05) / (y + 0.05)
}

// behind is the colour behind an element: of the nearest one around it that has any.
const behind = e => {
	for (; e; e = e.parentElement) {
		const c = colour(getComputedStyle(e).backgroundColor)
		if (c[3] === 1) return c
	}
	return [1, 1, 1, 1]
}

// faint are the texts that are harder to read than WCAG's level AA allows.
const faint = () => {
	const found = []
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	for (let n = texts.nextNode(); n; n = texts.nextNode()) {
		const e = n.parentElement
		if (!n.data.trim() || !visible(e) || e.closest("title, desc, .heard")) continue
		const style = getComputedStyle(e)
		const ratio = contrast(colour(e.closest("svg") ? style.fill : style.color), behind(e))
		const size = parseFloat(style.fontSize)
		if (ratio < (size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700 ? 3 : 4.5)) found.push(`${named(e)} ${n.data.trim().slice(0, 30)}: ${ratio.toFixed(2)}`)
	}
	return found
}

// shapes are the parts of plots that are drawn in a colour too near to the page's.
const shapes = () => [...document.querySelectorAll("svg path")].filter(visible).filter(e => {
	const style = getComputedStyle(e)
	const drawn = style.fill === "none" ? style.stroke : style.fill
	return !/grid/.test(e.getAttribute("class")) && contrast(colour(drawn), behind(e)) < 3
}).map(named)

// small are links and buttons that a finger misses: below WCAG's 24 pixels, unless they
// stand in a line of text.
const small = () => [...document.querySelectorAll("summary")].filter(visible).filter(e => e.getBoundingClientRect().height < 24).map(named)

const brightness = () => luminance(colour(getComputedStyle(document.body).backgroundColor))

// stops are what the key Tab should stop at, in order.
const reached = () => [...document.querySelectorAll("a[href], summary, button, input, [tabindex='0']")].filter(visible)
const stops = () => reached().length

// focus is at which stop the focus is, and whether that is seen.
const focus = () => {
	const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect()
	return {
		at: reached().indexOf(e), what: named(e),
		seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && contrast(colour(style.outlineColor), behind(e.parentElement)) >= 3
			&& box.bottom > 0 && box.top < innerHeight,
	}
}
