// Token strips (ui/strips.py describes them). No words here: every text arrives as data and is set with textContent.
// The default export is called again whenever the data change; it updates the same picture.

const CSS = `
:host { display: block; }
.strips { color: var(--st-text-color, #222); font-family: var(--st-font, system-ui, sans-serif); font-size: 14px;
  line-height: 1.3; font-variant-numeric: tabular-nums; container-type: inline-size;
  --paper: var(--st-background-color, #fff); --ink: var(--st-text-color, #222); --accent: var(--st-primary-color, #6440b5);
  --quiet: color-mix(in oklab, var(--ink) 74%, var(--paper)); --frame: color-mix(in oklab, var(--ink) 42%, var(--paper));
  --tint: color-mix(in oklab, var(--accent) 10%, var(--paper)); --tint2: color-mix(in oklab, var(--accent) 24%, var(--paper));
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.strip { display: grid; grid-template-columns: 168px 1fr; gap: 2px 14px; padding: 5px 0; align-items: start; }
.strip + .strip { border-top: 1px solid color-mix(in oklab, var(--ink) 14%, var(--paper)); }
.head { padding-top: 2px; }
.title { font-weight: 600; }
.note { color: var(--quiet); font-size: 12px; }
.tokens { display: flex; flex-wrap: wrap; gap: 3px 0; margin: 0; padding: 0; list-style: none; min-width: 0; }
li { display: flex; max-width: 100%; margin-inline-start: -1px; }
li:first-child { margin-inline-start: 0; }
.token { appearance: none; font: inherit; color: inherit; box-sizing: border-box; margin: 0; padding: 1px 4px; min-width: 26px;
  max-width: 100%; border: 1px solid var(--frame); border-radius: 0; background: var(--tint); cursor: pointer;
  display: flex; flex-direction: column; align-items: center; text-align: center; position: relative; }
li:first-child .token { border-start-start-radius: 5px; border-end-start-radius: 5px; }
li:last-child .token { border-start-end-radius: 5px; border-end-end-radius: 5px; }
li:nth-child(even) .token { background: var(--tint2); }
.still .token { cursor: default; }
.text { font-size: 16px; line-height: 1.4; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; }
.below { font-size: 11px; color: var(--quiet); line-height: 1.25; }
.bytes .token, .bytes:nth-child(even) .token { border-bottom: 2px dashed var(--ink); }
.bytes .text { font-size: 14px; line-height: 1.6; }
.unknown .token, .unknown:nth-child(even) .token { background: repeating-linear-gradient(135deg, var(--paper) 0 5px, var(--tint2) 5px 7px); }
.lit .token { box-shadow: inset 0 -3px 0 var(--accent); }
.token[aria-pressed=true] { outline: 2.5px solid var(--accent); outline-offset: -1px; z-index: 1; }
.token:focus { outline: none; }
.token[aria-pressed=true]:focus { outline: 2.5px solid var(--accent); outline-offset: -1px; }
.token:focus-visible, .token[aria-pressed=true]:focus-visible { outline: 3px solid var(--ink); outline-offset: 1px; z-index: 2; }
details { margin-top: 4px; font-size: 13px; }
summary { cursor: pointer; color: var(--quiet); width: fit-content; }
summary:hover { text-decoration: underline; }
summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.scroll { overflow: auto; max-height: 420px; }
table { border-collapse: collapse; margin: 6px 0 12px; }
caption { text-align: start; font-weight: 600; padding-bottom: 2px; }
th, td { padding: 2px 10px 2px 0; text-align: start; border-bottom: 1px solid color-mix(in srgb, currentColor 14%, transparent); font-weight: 400; unicode-bidi: isolate; overflow-wrap: anywhere; }
th { font-weight: 600; }
@container (max-width: 600px) { .strip { grid-template-columns: 1fr; } .head { display: flex; gap: 8px; align-items: baseline; flex-wrap: wrap; } }
`

const views = new WeakMap()

function element(tag, className, parent, text) {
  const made = document.createElement(tag)
  if (className) made.className = className
  if (text !== undefined) made.textContent = text
  parent?.append(made)
  return made
}

const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '')
const say = (node, text) => { if (node.textContent !== text) node.textContent = text }

class Strips {
  constructor(parent) {
    this.parent = parent
    this.sent = 0
    this.roving = new Map()
    this.root = element('div', 'strips')
    element('style', '', this.root, CSS)
    this.stage = element('div', '', this.root)
    this.stage.setAttribute('role', 'group')
    this.details = element('details', '', this.root)
    this.summary = element('summary', '', this.details)
    this.scroll = element('div', 'scroll', this.details)
    this.details.addEventListener('toggle', () => this.fillTable())
    this.stage.addEventListener('click', (event) => this.clicked(event))
    this.stage.addEventListener('keydown', (event) => this.key(event))
    this.stage.addEventListener('pointerover', (event) => this.point(this.placeOf(event.target)))
    this.stage.addEventListener('pointerleave', () => this.point(null))
    parent.append(this.root)
  }

  update(component) {
    this.component = component
    this.data = component.data
    if (this.data.seen >= this.sent) {
      this.sent = this.data.seen
      this.chosen = this.data.chosen
    }
    this.root.lang = this.data.lang
    this.stage.setAttribute('aria-label', this.data.summary)
    this.draw()
    this.fillTable()
  }

  draw() {
    const { strips } = this.data
    while (this.stage.children.length > strips.length) this.stage.lastChild.remove()
    strips.forEach((strip, s) => this.drawStrip(this.stage.children[s] ?? this.addStrip(), strip))
    say(this.summary, this.data.words.table)
    this.mark()
  }

  addStrip() {
    const box = element('section', 'strip', this.stage)
    const head = element('div', 'head', box)
    element('div', 'title', head)
    element('div', 'note', head)
    element('ol', 'tokens', box)
    return box
  }

  drawStrip(box, strip) {
    box.dataset.name = strip.name
    box.setAttribute('aria-label', strip.title)
    box.classList.toggle('still', strip.still)
    const [title, note] = box.firstChild.children
    say(title, strip.title)
    say(note, strip.note)
    const list = box.lastChild
    list.setAttribute('aria-label', strip.title)
    while (list.children.length > strip.tokens.length) list.lastChild.remove()
    const rove = Math.min(this.roving.get(strip.name) ?? 0, strip.tokens.length - 1)
    strip.tokens.forEach(([text, below, , , look], i) => {
      const item = list.children[i] ?? this.addToken(list)
      const token = item.firstChild
      item.className = look
      say(token.children[0], text)
      say(token.children[1], below)
      token.setAttribute('aria-label', fill(this.data.words.token, { text, number: below, place: i + 1 }))
      token.disabled = strip.still
      token.tabIndex = i === rove ? 0 : -1
    })
  }

  addToken(list) {
    const item = element('li', '', list)
    const token = element('button', 'token', item)
    token.type = 'button'
    element('span', 'text', token).dir = 'auto'
    element('span', 'below', token)
    return item
  }

  placeOf(target) {
    const item = target.closest?.('li')
    const name = item?.closest('section').dataset.name
    return item ? [name, [...item.parentElement.children].indexOf(item)] : null
  }

  strip(name) {
    return this.data.strips.find((strip) => strip.name === name)
  }

  point(place) {
    if (String(place) === String(this.hover)) return
    this.hover = place
    this.mark()
  }

  // What shares bytes with the token under the pointer, or else with the chosen one, is marked in every strip.
  mark() {
    const at = this.hover ?? this.chosen
    const [, , from, to] = (at && this.strip(at[0])?.tokens[at[1]]) ?? []
    for (const box of this.stage.children) {
      const strip = this.strip(box.dataset.name)
      strip.tokens.forEach(([, , start, end], i) => {
        const item = box.lastChild.children[i]
        item.classList.toggle('lit', from !== undefined && start < to && from < end)
        const pressed = this.chosen?.[0] === strip.name && this.chosen[1] === i
        if (strip.still) item.firstChild.removeAttribute('aria-pressed')
        else item.firstChild.setAttribute('aria-pressed', `${pressed}`)
      })
    }
  }

  clicked(event) {
    const place = this.placeOf(event.target)
    if (!place || this.strip(place[0]).still) return
    this.rove(...place)
    this.choose(String(place) === String(this.chosen) ? null : place)
  }

  choose(place) {
    this.chosen = place
    this.mark()
    this.sent = Math.max(Date.now(), this.sent + 1, this.data.seen + 1)
    this.component.setStateValue('event', { chosen: place, n: this.sent })
  }

  rove(name, i) {
    const list = this.stage.querySelector(`section[data-name="${name}"] ol`)
    for (const item of list.children) item.firstChild.tabIndex = -1
    this.roving.set(name, i)
    list.children[i].firstChild.tabIndex = 0
    return list.children[i].firstChild
  }

  // Arrows move along a strip, and up or down to the token that shares the first byte.
  key(event) {
    const place = this.placeOf(event.target)
    if (!place || event.altKey || event.ctrlKey || event.metaKey) return
    const [name, i] = place
    const last = this.strip(name).tokens.length - 1
    const along = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: last }
    if (event.key in along) this.rove(name, Math.min(Math.max(along[event.key], 0), last)).focus()
    else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') this.climb(name, i, event.key === 'ArrowUp' ? -1 : 1)
    else if (event.key === 'Escape' && this.chosen) this.choose(null)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  climb(name, i, step) {
    const names = this.data.strips.map((strip) => strip.name)
    const next = this.data.strips[names.indexOf(name) + step]
    if (!next?.tokens.length) return
    const start = this.strip(name).tokens[i][2]
    const place = next.tokens.findIndex(([, , , end]) => end > start)
    this.rove(next.name, place < 0 ? next.tokens.length - 1 : place).focus()
  }

  fillTable() {
    if (!this.details.open) return
    this.scroll.replaceChildren(...this.data.strips.map((strip) => {
      const table = element('table')
      element('caption', '', table, strip.title)
      const head = element('tr', '', element('thead', '', table))
      for (const text of this.data.columns) element('th', '', head, text).scope = 'col'
      const body = element('tbody', '', table)
      strip.tokens.forEach(([text, below, , , , facts], i) => {
        const row = element('tr', '', body)
        for (const cell of [`${i + 1}`, text, below, ...facts]) element('td', '', row, cell)
      })
      return table
    }))
    this.scroll.tabIndex = 0
  }
}

export default function show(component) {
  const { parentElement } = component
  if (!views.has(parentElement)) views.set(parentElement, new Strips(parentElement))
  const view = views.get(parentElement)
  view.update(component)
  // Streamlit also calls this for a call that a newer one overtook: then the strips are still on the page and stay.
  return () => {
    if ((parentElement.host ?? parentElement).isConnected) return
    view.root.remove()
    views.delete(parentElement)
  }
}
