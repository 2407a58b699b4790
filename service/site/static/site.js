// Every page is whole without this: here are files that are dropped, the folder picker, and
// checks that come in while a page is open.
"use strict"
document.documentElement.classList.add("scripted")

const form = document.getElementById("upload")
if (form) {
  const drop = document.getElementById("drop"), chosen = document.getElementById("chosen"), trouble = document.getElementById("trouble")
  const send = form.querySelector("button.main"), files = document.getElementById("files"), folder = document.getElementById("folder")
  let dropped = []
  const archive = /\.(zip|tar|tgz|tar\.gz)$/i

  // wanted leaves out what a grading never looks at, such as a history of versions.
  const wanted = path => !path.split("/").some(part => part.startsWith(".") || part === "node_modules")
  const list = () => [...dropped, ...[...files.files].map(f => [f.name, f]), ...[...folder.files].map(f => [f.webkitRelativePath || f.name, f])].filter(([path]) => wanted(path))
  const say = () => {
    trouble.hidden = true
    const names = list().map(([path]) => path), go = names.filter(name => name.endsWith(".go") || archive.test(name)), n = names.length - go.length
    chosen.textContent = names.length === 0 ? "" : `${go.slice(0, 8).join(", ")}${go.length > 8 ? ` and ${go.length - 8} more` : ""}${n > 0 ? ` (${n} other ${n === 1 ? "file is" : "files are"} left out)` : ""}`
  }
  const refuse = text => { trouble.textContent = text; trouble.hidden = false; send.disabled = false }

  // read lists the files of what was dropped, of folders too.
  const read = async entry => {
    if (!wanted(entry.fullPath.slice(1))) return []
    if (entry.isFile) return [[entry.fullPath.slice(1), await new Promise((good, bad) => entry.file(good, bad))]]
    const reader = entry.createReader(), found = []
    for (;;) {
      const some = await new Promise((good, bad) => reader.readEntries(good, bad))
      if (some.length === 0) return found
      for (const e of some) found.push(...await read(e))
    }
  }

  const submit = async () => {
    const all = list(), text = form.elements.text.value
    if (all.length === 0 && text.trim() === "") return refuse("Choose or drop files first, or paste a text.")
    send.disabled = true
    const body = new FormData()
    for (const [path, file] of all) {
      if (!path.endsWith(".go") && !archive.test(path)) continue
      const data = await file.arrayBuffer().catch(() => null) // of a file that has changed since, browsers send nothing
      if (data === null) return refuse(`${path} has changed since you chose it: choose it again.`)
      body.append("files", new File([data], file.name), path)
    }
    if (text.trim() !== "") body.append("text", text)
    if (![...body.keys()].length) return refuse("There is no Go file and no archive among these files.")
    chosen.textContent = "Handing in …"
    try {
      const answer = await fetch(form.action, {method: "POST", body, headers: {Accept: "application/json"}})
      const said = await answer.json()
      if (answer.ok) location.href = said.address
      else { say(); refuse(`${said.detail}. What to do: ${said.advice}.`) }
    } catch {
      say()
      refuse("The server did not answer. Nothing was lost: hand in again.")
    }
  }

  // A text that is dragged is the browser's to handle.
  const brings = e => e.dataTransfer.types.includes("Files")
  for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, e => { if (brings(e)) { e.preventDefault(); drop.classList.add("over") } })
  drop.addEventListener("dragleave", e => { if (!drop.contains(e.relatedTarget)) drop.classList.remove("over") })
  drop.addEventListener("drop", async e => {
    if (!brings(e)) return
    e.preventDefault()
    drop.classList.remove("over")
    const entries = [...e.dataTransfer.items].map(i => i.webkitGetAsEntry && i.webkitGetAsEntry()).filter(Boolean)
    const loose = [...e.dataTransfer.files].map(f => [f.name, f])
    try {
      dropped = entries.length ? (await Promise.all(entries.map(read))).flat() : loose
    } catch {
      dropped = loose
    }
    files.value = folder.value = "" // what comes last is what is meant
    say()
    submit()
  })
  for (const [field, other] of [[files, folder], [folder, files]]) field.addEventListener("change", () => { dropped = []; other.value = ""; say() })
  form.addEventListener("submit", e => { e.preventDefault(); submit() })
}

const live = document.getElementById("live")
if (live && live.dataset.events) {
  const stage = document.getElementById("stage"), doing = document.getElementById("doing")
  const bar = document.getElementById("progress"), table = document.getElementById("checks")
  const row = check => {
    const tr = table.tBodies[0].insertRow(), name = document.createElement("th"), code = document.createElement("code")
    tr.className = check.earns ? "good" : "bad"
    name.scope = "row"
    check.name.split(/(?<=\/)/).forEach((part, i) => code.append(...(i ? [document.createElement("wbr")] : []), part))
    name.append((check.earns ? "✓" : "✗") + " ", code)
    tr.append(name)
    tr.insertCell().textContent = check.verdict
    const points = tr.insertCell()
    points.className = "number"
    points.textContent = check.points
    table.hidden = false
  }
  const phases = new Map()
  const news = n => {
    stage.textContent = n.words
    if (n.event) {
      if (n.doing && n.event.done) phases.delete(n.event.phase)
      else if (n.doing) phases.set(n.event.phase, n.doing)
      doing.textContent = [...phases.values(), n.event.waiting].filter(Boolean).join(", ")
      if (n.event.total) {
        bar.hidden = false
        bar.max = n.event.total
        bar.value = n.event.decided
      }
    }
    if (n.check) row(n.check)
    if (n.stage !== "waiting" && n.stage !== "grading") location.reload()
  }
  const source = new EventSource(live.dataset.events)
  source.onopen = () => table.tBodies[0].replaceChildren() // what was decided is told again
  source.onerror = () => { if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000) } // a proxy's answer ends it
  source.onmessage = e => news(JSON.parse(e.data))
}
