// Linked matrices in the browser. ui/matrix.py sends bytes (its `encode` describes them); this draws them, marks what
// belongs together, and reports the reader's choices. Called again with new bytes, it changes what is there in place.
// All parts are asked for at once; a part's address carries the version that this file was asked for with.
await Promise.all(['text', 'wire', 'style', 'colour', 'layout', 'draw', 'extras'].map((part) => import(`./matrix/${part}.js${new URL(import.meta.url).search}`)))
const { formatNumber, formatWhole, fillNodes, fillText, visible } = await import('./matrix/text.js' + new URL(import.meta.url).search)
const { decode } = await import('./matrix/wire.js' + new URL(import.meta.url).search)
const { STYLE } = await import('./matrix/style.js' + new URL(import.meta.url).search)
const { paletteOf } = await import('./matrix/colour.js' + new URL(import.meta.url).search)
const { arrange, arrangeLarge, canGrow, ARROWS_FROM, NUMBERS_FROM } = await import('./matrix/layout.js' + new URL(import.meta.url).search)
const { makeView, buildView, paintView, markView, ringView, arrowOf, isCanvas, beyond } = await import('./matrix/draw.js' + new URL(import.meta.url).search)
const { fillTable, pictureOf, saveFile } = await import('./matrix/extras.js' + new URL(import.meta.url).search)

// Without arrows the note says what made a matrix; a sign such as × is left to the title.
function tellSteps(specs, width) {
  for (const spec of specs) {
    spec.plainNote ??= spec.note
    spec.note = width < ARROWS_FROM && spec.arrow.length > 1 ? [spec.arrow, spec.plainNote].filter(Boolean).join(' → ') : spec.plainNote
  }
}

const widths = new Map()
let pen = null

function measurer(font) {
  pen ??= document.createElement('canvas').getContext('2d')
  return (text, size, weight = 400) => {
    const key = `${weight} ${size}px ${font}|${text}`
    if (!widths.has(key)) {
      if (widths.size > 5000) widths.clear()
      pen.font = `${weight} ${size}px ${font}`
      widths.set(key, pen.measureText(text).width)
    }
    return widths.get(key)
  }
}

function element(tag, className, parent) {
  const made = document.createElement(tag)
  if (className) made.className = className
  parent?.append(made)
  return made
}

class Picture {
  constructor(parent) {
    this.parent = parent
    this.views = new Map()
    this.arrows = []
    this.hover = null // [name, row, column] under the pointer or with the keyboard's focus
    this.large = false // the reader asked for numbers in a matrix whose cells are too small for them
    this.sent = 0
    this.toggled = [] // clicks [number, name, row, column] in matrices to draw in that Python has not seen yet
    this.root = element('div', 'picture')
    const style = element('style', '', this.root)
    style.textContent = STYLE
    this.stage = element('div', 'stage', this.root)
    this.stage.setAttribute('role', 'group')
    this.makeFoot()
    parent.append(this.root)
    this.observer = new ResizeObserver(() => this.resized())
    this.observer.observe(this.root)
    this.scheme = matchMedia('(prefers-color-scheme: dark)')
    this.recolour = () => this.data && this.draw()
    this.scheme.addEventListener('change', this.recolour)
  }

  makeFoot() {
    this.foot = element('div', 'foot', this.root)
    this.read = element('div', 'read', this.foot)
    this.details = element('details', '', this.foot)
    this.summary = element('summary', '', this.details)
    const scroll = element('div', 'scroll', this.details)
    scroll.tabIndex = -1
    this.table = element('table', '', scroll)
    this.grow = element('button', 'grow', this.foot)
    this.save = element('button', 'save', this.foot)
    this.grow.type = this.save.type = 'button'
    this.details.addEventListener('toggle', () => this.paintTable())
    this.save.addEventListener('click', () => this.download())
    this.grow.addEventListener('click', () => {
      this.large = !this.large
      this.draw()
    })
  }

  destroy() {
    this.observer.disconnect()
    this.scheme.removeEventListener('change', this.recolour)
    this.root.remove()
    pictures.delete(this.parent)
  }

  resized() {
    if (this.root.clientWidth === this.width) return
    this.width = this.root.clientWidth
    if (this.data) this.draw()
  }

  update(component) {
    this.component = component
    this.data = decode(component.data)
    this.toggled = this.toggled.filter(([n]) => n > this.data.seen)
    // A click that Python has not seen yet stays as the reader left it.
    if (this.data.seen >= this.sent || !this.stillThere()) {
      this.sent = Math.max(this.data.seen, 0)
      this.focus = this.data.focus
      this.chosen = this.data.cell
    }
    this.draw()
  }

  stillThere() {
    const specs = new Map(this.data.rows.flat().map((spec) => [spec.name, spec]))
    const inside = (cell) => !cell || (cell[1] < specs.get(cell[0])?.shape[0] && cell[2] < specs.get(cell[0])?.shape[1])
    if (this.hover && !inside(this.hover)) this.hover = null
    return specs.has(this.focus) && inside(this.chosen)
  }

  draw() {
    // Reading a size makes the browser lay out the page at once, so it is read only when it may have changed.
    this.width ||= this.root.clientWidth
    if (!this.width) return
    this.stillThere()
    const { rows, words, lang, summary } = this.data
    tellSteps(rows.flat(), this.width)
    this.colours = paletteOf(this.root)
    this.font = getComputedStyle(this.root).fontFamily
    const measure = measurer(this.font)
    const plan = this.arranged(rows, measure)
    this.root.lang = lang
    this.root.classList.toggle('narrow', this.width <= 600)
    this.stage.setAttribute('aria-label', summary)
    const wider = plan.width > this.width
    this.stage.classList.toggle('wider', wider)
    this.stage.style.height = `${plan.height + (wider ? 16 : 0)}px` // room for the scroll bar
    this.drawBlocks(rows.flat(), plan, measure)
    this.drawArrows(plan, measure)
    this.drawFoot(words)
    this.mark()
    this.paintTable()
  }

  arranged(rows, measure) {
    const parts = rows.map((row) => row.map((spec) => [spec.name, spec.title, spec.note, spec.arrow, spec.axisTitles, spec.rowTexts, spec.columnTexts]))
    const key = JSON.stringify([parts, this.focus, this.width, this.font, this.large])
    if (key !== this.planKey) {
      this.plan = arrange(rows, this.focus, this.width, measure)
      this.growable = canGrow(rows.flat().find(({ name }) => name === this.focus), this.plan.blocks.get(this.focus))
      if (this.growable && this.large) this.plan = arrangeLarge(rows, this.focus, this.width, measure)
    }
    this.planKey = key
    return this.plan
  }

  drawFoot({ table, download, larger, smaller }) {
    const grow = this.large ? smaller : larger
    const key = [table, download, grow, this.growable, this.width, this.font].join('|')
    if (key === this.footKey) return
    this.footKey = key
    this.summary.textContent = table
    this.save.textContent = download
    this.grow.textContent = grow
    this.grow.hidden = !this.growable
    const wide = this.width > 600
    const tools = wide ? this.save.offsetWidth + 18 : 0
    const used = tools + this.summary.offsetWidth + 18
    this.summary.style.marginRight = `${tools}px`
    this.grow.style.cssText = wide ? `right:${used}px` : `left:${used}px`
    this.read.style.right = `${used + (this.growable ? this.grow.offsetWidth + 18 : 0)}px`
  }

  drawBlocks(specs, plan, measure) {
    const names = new Set(specs.map((spec) => spec.name))
    for (const [name, view] of this.views) {
      if (names.has(name)) continue
      view.box.remove()
      this.views.delete(name)
    }
    specs.forEach((spec, i) => {
      const view = this.views.get(spec.name) ?? this.addView(spec.name)
      if (this.stage.children[i] !== view.box) this.stage.insertBefore(view.box, this.stage.children[i] ?? null)
      view.spec = spec
      view.box.dataset.name = spec.name
      this.drawBlock(view, plan.blocks.get(spec.name), measure)
    })
  }

  drawBlock(view, place, measure) {
    const { spec, box } = view
    const { x, y, ...inner } = place
    const sizeKey = JSON.stringify([inner, spec.rows, spec.columns, spec.axisTitles, spec.identity, spec.title, spec.fill,
      spec.hidden !== null, spec.limits, place.bar && beyond(spec), this.colours.key, this.font, isCanvas(spec, place)])
    view.block = place
    box.style.cssText = `left:${x}px;top:${y}px;width:${inner.w}px;height:${inner.h}px`
    this.drawTitle(view, place)
    if (sizeKey !== view.sizeKey) {
      const kept = view.at && this.parentFocus()?.closest?.('.block') === box
      view.sizeKey = sizeKey
      buildView(view, measure, this.colours)
      this.rove(view, view.at?.[0] ?? 0, view.at?.[1] ?? 0, kept)
    }
    view.grid.setAttribute('aria-label', spec.gridWords)
    paintView(view, this.colours)
  }

  parentFocus() {
    return this.root.getRootNode().activeElement
  }

  drawTitle(view, place) {
    const { button, note, spec, svg } = view
    const shown = visible(spec.title)
    if (button.textContent !== shown) button.textContent = shown
    const pressed = `${spec.name === this.focus}`
    button.setAttribute('aria-pressed', pressed)
    button.title = pressed === 'true' ? '' : fillText(this.data.words.focus, { title: spec.title })
    button.style.cssText = `left:${place.titleLeft}px;top:0;font-size:${place.title}px;`
      + `color:${this.colours.identity[spec.identity]};max-width:${place.w - place.titleLeft}px`
    // A matrix drawn large whose cells are too small for numbers says how to read them.
    const mute = spec.name === this.focus && (place.cell < NUMBERS_FROM || view.canvas)
    const told = [spec.note, mute ? this.data.words.point : ''].filter(Boolean).join(' · ')
    note.textContent = told && visible(told)
    const top = place.role === 'strip' ? place.titleHeight - 16 : place.titleHeight
    note.style.cssText = `left:${place.noteLeft}px;top:${top}px;font-size:11.5px;color:${this.colours.quiet};`
      + `max-width:${Math.max(0, place.w - place.noteLeft)}px`
    svg.style.cursor = spec.draw ? 'crosshair' : ''
  }

  drawArrows(plan, measure) {
    const key = JSON.stringify([plan.arrows, this.colours.key, this.font])
    if (key === this.arrowKey) return
    this.arrowKey = key
    for (const { element: old } of this.arrows) old.remove()
    this.arrows = plan.arrows.map((arrow) => {
      const made = arrowOf(arrow, this.colours, measure)
      const y = Math.round(arrow.y - 22)
      made.style.cssText = `left:${arrow.x}px;top:${y}px`
      this.stage.append(made)
      return { element: made, x: arrow.x, y }
    })
  }

  addView(name) {
    const view = makeView()
    this.views.set(name, view)
    const { box } = view
    box.addEventListener('pointermove', (event) => this.point(name, this.at(view, event)))
    box.addEventListener('pointerleave', () => this.point(name, null))
    box.addEventListener('click', (event) => {
      const at = this.at(view, event)
      if (!at) return
      this.rove(view, ...at, false)
      this.choose([name, ...at])
    })
    box.addEventListener('keydown', (event) => this.key(view, event))
    box.addEventListener('focusin', () => this.entered(view))
    box.addEventListener('focusout', () => this.entered(view))
    view.button.addEventListener('click', (event) => {
      event.stopPropagation()
      if (this.focus === name) return
      this.focus = name
      this.send()
      this.draw()
    })
    return view
  }

  at({ spec, block, box }, event) {
    const { top, left } = box.getBoundingClientRect()
    const r = Math.floor((event.clientY - top - block.top) / block.cell)
    const c = Math.floor((event.clientX - left - block.left) / block.cell)
    return r >= 0 && c >= 0 && r < spec.shape[0] && c < spec.shape[1] ? [r, c] : null
  }

  point(name, at) {
    const next = at && [name, ...at]
    if (String(next) === String(this.hover)) return
    this.hover = next
    this.mark()
  }

  // Keyboard focus came to or left a grid: its roving cell is then pointed at.
  entered(view) {
    const active = this.parentFocus()
    const inside = active && (active === view.canvas || view.cells.some(({ group }) => group === active))
    const ring = inside && active.matches(':focus-visible')
    ringView(view, ring ? view.at : null)
    if (ring) this.point(view.spec.name, view.at)
    else if (!inside && !view.box.matches(':hover')) this.point(view.spec.name, null)
  }

  rove(view, r, c, take) {
    const [R, C] = view.spec.shape
    view.cells[view.roving ?? -1]?.group.setAttribute('tabindex', -1)
    view.at = [Math.min(r, R - 1), Math.min(c, C - 1)]
    view.roving = view.at[0] * C + view.at[1]
    const group = view.cells[view.roving]?.group
    group?.setAttribute('tabindex', 0)
    if (take) (group ?? view.canvas)?.focus({ preventScroll: false })
    if (take && view.canvas) this.entered(view)
  }

  key(view, event) {
    if (event.target === view.button || event.altKey || event.ctrlKey || event.metaKey) {
      if (event.key !== 'Escape') return
    }
    const [R, C] = view.spec.shape
    const [r, c] = view.at
    const moves = { ArrowUp: [r - 1, c], ArrowDown: [r + 1, c], ArrowLeft: [r, c - 1], ArrowRight: [r, c + 1], Home: [r, 0], End: [r, C - 1] }
    if (event.key in moves) {
      const [row, column] = moves[event.key]
      this.rove(view, Math.min(Math.max(row, 0), R - 1), Math.min(Math.max(column, 0), C - 1), true)
    } else if (event.key === 'Enter' || event.key === ' ') this.choose([view.spec.name, r, c])
    else if (event.key === 'Escape' && this.chosen) this.choose(null)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  choose(cell) {
    if (cell && this.views.get(cell[0]).spec.draw) {
      this.send(cell)
      return
    }
    if (String(cell) === String(this.chosen)) return
    this.chosen = cell
    this.send()
    this.mark()
  }

  // Streamlit may skip a report that a newer one overtakes, so every report holds all clicks that are still unseen.
  send(toggle = null) {
    this.sent = Math.max(Date.now(), this.sent + 1, this.data.seen + 1)
    if (toggle) this.toggled.push([this.sent, ...toggle])
    this.component.setStateValue('event', { focus: this.focus, cell: this.chosen, n: this.sent, toggled: this.toggled })
  }

  // Which rows and columns of a matrix belong to a cell of this or another one: those of equally named axes.
  linked(spec, cell) {
    if (!cell) return [[], []]
    const source = this.views.get(cell[0]).spec
    const same = spec === source || String(spec.marks) === String(source.marks)
    // Through the thing itself, since two matrices may have it in different places.
    const ordered = ({ order, axes }, i) => order.length && (i === 0 || axes[0] === axes[1])
    const thing = (i) => (ordered(source, i) ? source.order[cell[i + 1]] : cell[i + 1])
    const along = (mark, i) => [0, 1].filter((j) => (same ? i === j : source.marks[j] === mark)).map(thing)
      .map((one) => (ordered(spec, i) ? spec.order.indexOf(one) : one))
    const [rows, columns] = spec.marks.map(along)
    return [rows.filter((r) => r >= 0 && r < spec.shape[0]), columns.filter((c) => c >= 0 && c < spec.shape[1])]
  }

  mark() {
    for (const view of this.views.values()) {
      markView(view, 'chosen', ...this.linked(view.spec, this.chosen), this.colours)
      markView(view, 'hover', ...this.linked(view.spec, this.hover), this.colours)
      view.picked?.removeAttribute('aria-selected')
      const picked = this.chosen?.[0] === view.spec.name ? this.chosen[1] * view.spec.shape[1] + this.chosen[2] : -1
      view.picked = view.cells[picked]?.group
      view.picked?.setAttribute('aria-selected', 'true')
    }
    this.readOut(this.hover ?? this.chosen)
  }

  readOut(cell) {
    if (!cell) {
      this.read.replaceChildren()
      return
    }
    const view = this.views.get(cell[0])
    const { spec } = view
    const { words } = this.data
    const i = cell[1] * spec.shape[1] + cell[2]
    const number = Number.isNaN(spec.values[i]) ? words.nan
      : spec.whole ? formatWhole(spec.values[i]) : spec.wire === 'u8' ? `≈ ${formatNumber(spec.values[i], 2)}` : formatNumber(spec.values[i])
    const named = (text, position) => (text === `${position}` ? '' : visible(text))
    this.read.setAttribute('aria-live', view.canvas || !view.block.label ? 'polite' : 'off')
    fillNodes(this.read, words.readout, {
      title: spec.title,
      row_axis: words[spec.axes[0]], row: `${cell[1] + 1}`, row_label: named(spec.rows[cell[1]], cell[1] + 1),
      column_axis: words[spec.axes[1]], column: `${cell[2] + 1}`, column_label: named(spec.columns[cell[2]], cell[2] + 1),
      value: spec.hidden?.[i] ? spec.hiddenAs || words.hidden : number,
    })
  }

  paintTable() {
    if (this.details.open) fillTable(this.table, this.views.get(this.focus).spec, this.data.words)
  }

  picture() {
    const inOrder = this.data.rows.flat().map(({ name }) => this.views.get(name))
    return pictureOf(inOrder, this.arrows, this.plan, this.colours, this.font, this.data.summary)
  }

  download() {
    saveFile(this.picture(), this.data.words.filename)
  }
}

const pictures = new WeakMap()

export default function mount(component) {
  const { parentElement } = component
  if (!pictures.has(parentElement)) pictures.set(parentElement, new Picture(parentElement))
  const picture = pictures.get(parentElement)
  picture.update(component)
  // Streamlit also calls this for a call that a newer one overtook: then the picture is still on the page and stays.
  return () => {
    if (!(parentElement.host ?? parentElement).isConnected) picture.destroy()
  }
}
