// The page is whole without this: it adds buttons that sort the gradebook, and a field that
// filters it.
"use strict"
const table = document.querySelector(".gradebook")
if (table) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells], rows = [...body.rows]
  const number = (row, i) => parseFloat(row.cells[i].dataset.value)
  const name = row => row.cells[0].textContent

  // compare orders by a column; what has no number comes last in either direction.
  const compare = (i, down) => (a, b) => {
    const x = number(a, i), y = number(b, i)
    if (i === 0 || isNaN(x) && isNaN(y) || x === y) return name(a).localeCompare(name(b), undefined, {numeric: true}) * (i === 0 && down ? -1 : 1)
    if (isNaN(x) || isNaN(y)) return isNaN(x) ? 1 : -1
    return down ? y - x : x - y
  }
  const sort = i => {
    const down = heads[i].getAttribute("aria-sort") === "ascending"
    heads.forEach(h => h.removeAttribute("aria-sort"))
    heads[i].setAttribute("aria-sort", down ? "descending" : "ascending")
    body.append(...rows.sort(compare(i, down)))
  }
  heads.forEach((head, i) => {
    const button = document.createElement("button")
    button.type = "button"
    button.append(...head.childNodes)
    button.addEventListener("click", () => sort(i))
    head.append(button)
  })

  const label = document.createElement("label"), field = document.createElement("input"), count = document.createElement("output")
  field.type = "search"
  label.append("Show only rows with ", field, " ", count)
  label.className = "filter"
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase()
    rows.forEach(r => { r.hidden = !r.textContent.toLowerCase().includes(wanted) })
    count.textContent = `${rows.filter(r => !r.hidden).length} of ${rows.length} students`
  })
  table.parentElement.before(label)
}
