// One matrix on the page: a block with a title button and an SVG, over a canvas when there are too many cells for
// elements. Colours and sizes are attributes, not styles, so that the picture can be saved as it is.
const { visible, formatNumber, formatInCell, formatWhole } = await import('./text.js' + new URL(import.meta.url).search)
const { stepOf, STEPS } = await import('./colour.js' + new URL(import.meta.url).search)
const { FONT, NUMBERS_FROM, MOST_ELEMENTS, scaleNumber, shownLabel } = await import('./layout.js' + new URL(import.meta.url).search)

const SVG = 'http://www.w3.org/2000/svg'
let serial = 0

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

function html(tag, className) {
  const element = document.createElement(tag)
  element.className = className
  return element
}

export function makeView() {
  const view = { id: `m${++serial}`, cells: [], sizeKey: '', hoverKey: '', chosenKey: '' }
  view.box = html('div', 'block')
  view.button = html('button', 'title')
  view.button.type = 'button'
  view.note = html('span', 'note')
  view.svg = svg('svg', { class: 'grid' })
  view.box.append(view.button, view.note, view.svg)
  return view
}

// Large matrices, and thumbnails that are not in focus, are pixels: a redraw of eight heads must not move thousands of elements.
export const isCanvas = ({ shape, pixels }, { role, large }) => !large && (Math.max(...shape) > MOST_ELEMENTS || (pixels && role !== 'focus'))

const round = (x) => Math.round(x * 100) / 100

function text(content, x, y, size, colour, more = {}) {
  return svg('text', { x: round(x), y: round(y), 'font-size': size, fill: colour, ...more }, content)
}

function patterns(view, colours) {
  const hatch = svg('pattern', { id: `${view.id}h`, width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
    svg('rect', { width: 5, height: 5, fill: colours.page }), svg('rect', { width: 1.2, height: 5, fill: colours.hatch }))
  const dots = svg('pattern', { id: `${view.id}n`, width: 4, height: 4, patternUnits: 'userSpaceOnUse' },
    svg('rect', { width: 4, height: 4, fill: colours.page }), svg('circle', { cx: 2, cy: 2, r: 0.9, fill: colours.text }))
  return svg('defs', {}, hatch, dots)
}

// Labels with the full text in a tooltip where it was cut.
function label(view, full, x, y, room, measure, colours, more) {
  const { block } = view
  const shown = shownLabel(full, block, room, measure)
  const element = text(shown, x, y, block.label, colours.quiet, more)
  if (shown !== visible(full)) element.append(svg('title', {}, full))
  return element
}

const isCharacter = (name) => [...visible(name)].length === 1

function columnLabels(view, measure, colours) {
  const { spec, block } = view
  return spec.columns.map((name, c) => {
    if (c % block.everyColumn) return null
    const slant = isCharacter(name) ? 0 : block.slant // a character fits upright, and 爱 lying on its side cannot be read
    const middle = block.left + (c + 0.5) * block.cell
    const y = block.top - (slant ? 5 : 6)
    const x = slant ? middle + (slant === 90 ? block.label * 0.35 : 2) : middle
    const more = slant ? { transform: `rotate(-${slant} ${round(x)} ${y})` } : { 'text-anchor': 'middle' }
    return label(view, name, x, y, block.highest, measure, colours, { role: 'columnheader', ...more })
  })
}

function rowLabels(view, measure, colours) {
  const { spec, block } = view
  return spec.rows.map((name, r) => r % block.everyRow ? null
    : label(view, name, block.left - 6, block.top + (r + 0.5) * block.cell + block.label * 0.35, block.longest,
      measure, colours, { role: 'rowheader', 'text-anchor': 'end' }))
}

function axisTitles({ spec, block }, colours) {
  const made = []
  if (block.columnTitle) {
    made.push(text(visible(spec.axisTitles[1]), block.left + block.width / 2, block.titleHeight + block.noteHeight + FONT.axis - 1,
      FONT.axis, colours.quiet, { 'text-anchor': 'middle' }))
  }
  if (block.rowTitle) {
    const x = FONT.axis - 1
    const y = block.rowTitleAt
    made.push(text(visible(spec.axisTitles[0]), x, y, FONT.axis, colours.quiet,
      { 'text-anchor': 'middle', transform: `rotate(-90 ${x} ${round(y)})` }))
  }
  return made
}

function gridLines({ spec, block }, colours) {
  const { left, top, width, height, cell } = block
  let d = ''
  if (cell >= 7) {
    for (let r = 1; r < spec.shape[0]; r++) d += `M${left} ${round(top + r * cell)}h${round(width)}`
    for (let c = 1; c < spec.shape[1]; c++) d += `M${round(left + c * cell)} ${top}v${round(height)}`
  }
  return svg('path', { d, fill: 'none', stroke: colours.line, 'shape-rendering': 'crispEdges', 'pointer-events': 'none' })
}

// Whether values lie below and above the limits of the scale: they keep the colours of its ends.
export function beyond({ values, hidden, limits: [low, high] }) {
  const out = [false, false]
  for (let i = 0; i < values.length; i++) {
    if (hidden?.[i]) continue
    out[0] ||= values[i] < low - 1e-6
    out[1] ||= values[i] > high + 1e-6
  }
  return out
}

// The scale of the colours: a strip from the lower to the upper limit, 0 marked on a signed one.
function colourBar(view, colours) {
  const { spec, block } = view
  if (!block.bar) return []
  const x = block.left + block.width + 12
  const tall = Math.max(40, Math.min(block.height, 132))
  const y = block.top + (block.height - tall) / 2
  const [low, high] = spec.limits
  const stops = Array.from({ length: 9 }, (_, i) => svg('stop', { offset: i / 8,
    'stop-color': colours[spec.fill].fill[stepOf(high + ((low - high) * i) / 8, spec.fill, spec.limits)] }))
  const id = `${view.id}b`
  const tick = (value, at, sign = '') => text(sign + scaleNumber(value), x + 11, y + at + FONT.bar * 0.35, FONT.bar, colours.quiet)
  const [below, above] = beyond(spec)
  const ticks = [tick(high, FONT.bar * 0.35, above ? '≥ ' : ''), tick(low, tall - FONT.bar * 0.35, below ? '≤ ' : '')]
  if (spec.fill === 'signed' && low < 0 && high > 0) ticks.push(tick(0, (high / (high - low)) * tall))
  return [svg('defs', {}, svg('linearGradient', { id, x1: 0, y1: 0, x2: 0, y2: 1 }, ...stops)),
    svg('rect', { x, y, width: 7, height: tall, fill: `url(#${id})`, stroke: colours.frame, 'stroke-width': 0.75 }), ...ticks]
}

// Build everything but the numbers. Called when shape, labels, size or theme change, not when values do.
export function buildView(view, measure, colours) {
  const { spec, block } = view
  const { left, top, width, height } = block
  view.svg.setAttribute('width', block.w)
  view.svg.setAttribute('height', block.h)
  view.columnLabels = block.label ? columnLabels(view, measure, colours) : []
  view.rowLabels = block.label ? rowLabels(view, measure, colours) : []
  view.grid = svg('g', { 'aria-label': spec.title })
  view.cells = []
  if (isCanvas(spec, block)) buildCanvas(view)
  else buildCells(view)
  const frame = svg('rect', { x: left - 0.5, y: top - 0.5, width: round(width + 1), height: round(height + 1), fill: 'none',
    stroke: spec.identity ? colours.identity[spec.identity] : colours.frame, 'stroke-width': spec.identity ? 1.5 : 1 })
  const mark = (stroke, wide, name = '') => svg('path', { class: name, fill: 'none', stroke, 'stroke-width': wide, 'stroke-linejoin': 'round' })
  view.marks = {
    chosenHalo: mark(colours.page, 2.75), chosen: mark(colours.primary, 1.25, 'chosen'), halo: mark(colours.page, 2.75),
    hover: mark(colours.text, 1.25, 'hover'), cellHalo: mark(colours.page, 4.5), chosenCell: mark(colours.primary, 3, 'chosen-cell'),
    hoverCell: mark(colours.text, 2.25, 'hover-cell'), ring: mark(colours.primary, 2.5, 'ring'),
  }
  view.marks.ring.setAttribute('stroke-dasharray', '4 2.5')
  const marks = svg('g', { 'pointer-events': 'none' }, ...Object.values(view.marks))
  view.svg.replaceChildren(patterns(view, colours), ...axisTitles(view, colours), view.grid, gridLines(view, colours), frame,
    ...colourBar(view, colours), marks)
  view.hoverKey = view.chosenKey = view.ringKey = ''
}

function buildCells(view) {
  const { spec, block } = view
  const { left, top, cell } = block
  view.canvas?.remove()
  view.canvas = null
  view.grid.setAttribute('role', 'grid')
  if (view.columnLabels.some(Boolean)) view.grid.append(svg('g', { role: 'row' }, ...view.columnLabels.filter(Boolean)))
  const size = Math.max(9.5, Math.min(13, Math.round(cell * 0.29 * 2) / 2))
  const numbered = cell >= NUMBERS_FROM
  for (let r = 0; r < spec.shape[0]; r++) {
    const row = svg('g', { role: 'row' })
    if (view.rowLabels[r]) row.append(view.rowLabels[r])
    for (let c = 0; c < spec.shape[1]; c++) {
      const x = left + c * cell
      const y = top + r * cell
      const rect = svg('rect', { x: round(x), y: round(y), width: round(cell), height: round(cell), 'shape-rendering': 'crispEdges' })
      const group = svg('g', { role: 'gridcell', tabindex: -1, class: 'cell' }, rect)
      const made = { group, rect, number: null, look: null, shown: null }
      if (numbered || (cell >= 24 && spec.hidden)) {
        made.number = text('', x + cell / 2, y + cell / 2 + size * 0.35, size, '#000',
          { 'text-anchor': 'middle', 'stroke-width': 3, 'paint-order': 'stroke' })
        group.append(made.number)
      }
      view.cells.push(made)
      row.append(group)
    }
    view.grid.append(row)
  }
  view.numbered = numbered
}

function buildCanvas(view) {
  const { block } = view
  view.grid.setAttribute('role', 'group')
  if (!view.canvas) {
    view.canvas = html('canvas', 'cells')
    view.canvas.tabIndex = 0
    view.canvas.setAttribute('role', 'img')
    view.box.insertBefore(view.canvas, view.svg)
  }
  view.numbered = false
  // The canvas speaks for itself; labels outside a grid's rows would be headers of nothing.
  const labels = [...view.columnLabels, ...view.rowLabels].filter(Boolean)
  for (const each of labels) each.removeAttribute('role')
  view.grid.append(...labels)
  Object.assign(view.canvas.style, { left: `${block.left}px`, top: `${block.top}px`, width: `${block.width}px`, height: `${block.height}px` })
}

// Put the values on the page, touching only what differs from what is there.
export function paintView(view, colours) {
  if (view.canvas) paintCanvas(view, colours)
  else paintCells(view, colours)
}

// On a small scale a third decimal says more than the zero in front, and takes its place.
function inCell({ limits: [low, high] }, value, decimals) {
  if (Math.max(-low, high) > 0.1 || value === 0) return formatInCell(value, decimals)
  return formatInCell(value, 3).replace('0.', '.')
}

function paintCells(view, colours) {
  const { spec, block, cells, numbered } = view
  const { fill, ink } = colours[spec.fill]
  const decimals = block.cell >= (spec.fill === 'weight' ? 38 : 46) ? 3 : 2 // a minus sign needs room too
  for (let i = 0; i < cells.length; i++) {
    const made = cells[i]
    const value = spec.hidden?.[i] ? -Infinity : spec.values[i]
    if (Object.is(made.value, value) && made.limits === spec.limitsKey) continue
    made.value = value
    made.limits = spec.limitsKey
    const hidden = value === -Infinity
    const missing = Number.isNaN(value)
    const look = hidden ? 'h' : missing ? 'n' : stepOf(value, spec.fill, spec.limits)
    if (look !== made.look) {
      made.look = look
      made.rect.setAttribute('fill', typeof look === 'string' ? `url(#${view.id}${look})` : fill[look])
      // Over a pattern, letters keep a margin of the page's colour.
      made.number?.setAttribute('stroke', hidden || missing ? colours.page : 'none')
    }
    made.group.setAttribute('aria-label', hidden ? spec.hiddenAs || '−∞' : spec.whole ? formatWhole(value) : formatNumber(value))
    if (!made.number) continue
    const tone = hidden || value === 0 ? colours.quiet : missing ? colours.text : ink[look]
    if (tone !== made.tone) made.number.setAttribute('fill', (made.tone = tone))
    const shown = hidden ? (spec.hiddenAs ? '' : '−∞') : !numbered ? '' : spec.whole ? formatWhole(value) : inCell(spec, value, decimals)
    if (shown !== made.shown) made.number.textContent = made.shown = shown
  }
}

function paintCanvas(view, colours) {
  const { spec, block, canvas } = view
  const [R, C] = spec.shape
  const { rgb } = colours[spec.fill]
  const image = new ImageData(C, R)
  for (let i = 0; i < R * C; i++) {
    const missing = spec.hidden?.[i] || Number.isNaN(spec.values[i])
    const [r, g, b] = missing ? colours[spec.fill].rgb[spec.fill === 'signed' ? STEPS / 2 : 0] : rgb[stepOf(spec.values[i], spec.fill, spec.limits)]
    image.data.set([r, g, b, 255], i * 4)
  }
  const small = new OffscreenCanvas(C, R)
  small.getContext('2d').putImageData(image, 0, 0)
  const dense = globalThis.devicePixelRatio || 1
  canvas.width = Math.max(1, Math.round(block.width * dense))
  canvas.height = Math.max(1, Math.round(block.height * dense))
  const pen = canvas.getContext('2d')
  pen.imageSmoothingEnabled = block.cell * dense < 1
  pen.drawImage(small, 0, 0, canvas.width, canvas.height)
  hatchCanvas(pen, spec, canvas, colours, dense)
  canvas.setAttribute('aria-label', `${spec.gridWords}`)
}

// Hidden cells get diagonals, cells that are not a number a dark cross-hatch.
function hatchCanvas(pen, spec, canvas, colours, dense) {
  const [R, C] = spec.shape
  const hidden = new Path2D()
  const missing = new Path2D()
  for (let i = 0; i < R * C; i++) {
    const path = spec.hidden?.[i] ? hidden : Number.isNaN(spec.values[i]) ? missing : null
    path?.rect(((i % C) * canvas.width) / C, (Math.floor(i / C) * canvas.height) / R, canvas.width / C, canvas.height / R)
  }
  const lines = new Path2D()
  for (let x = -canvas.height; x < canvas.width; x += 5 * dense) {
    lines.moveTo(x, canvas.height)
    lines.lineTo(x + canvas.height, 0)
  }
  for (const [area, colour, wide] of [[hidden, colours.hatch, 1], [missing, colours.text, 2]]) {
    pen.save()
    pen.clip(area)
    pen.strokeStyle = colour
    pen.lineWidth = wide * dense
    pen.stroke(lines)
    pen.restore()
  }
}

const rectangle = (x, y, w, h) => `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}z`

function bandPath(view, rows, columns) {
  const { left, top, width, height, cell } = view.block
  return rows.map((r) => rectangle(left, top + r * cell, width, cell)).join('')
    + columns.map((c) => rectangle(left + c * cell, top, cell, height)).join('')
}

function cellPath(view, rows, columns) {
  const { left, top, cell } = view.block
  return rows.length && columns.length ? rectangle(left + columns[0] * cell, top + rows[0] * cell, cell, cell) : ''
}

// Mark rows and columns, as hovered or as chosen.
export function markView(view, kind, rows, columns, colours) {
  const key = `${rows}|${columns}`
  if (view[`${kind}Key`] === key) return
  view[`${kind}Key`] = key
  const bands = bandPath(view, rows, columns)
  const { marks } = view
  marks[kind === 'hover' ? 'halo' : 'chosenHalo'].setAttribute('d', bands)
  marks[kind].setAttribute('d', bands)
  const cell = cellPath(view, rows, columns)
  marks[`${kind}Cell`].setAttribute('d', cell)
  if (kind === 'chosen') marks.cellHalo.setAttribute('d', cell)
  if (kind !== 'hover') return
  for (const [labels, on] of [[view.rowLabels, rows], [view.columnLabels, columns]]) {
    labels.forEach((element, i) => {
      element?.setAttribute('fill', on.includes(i) ? colours.text : colours.quiet)
      element?.setAttribute('font-weight', on.includes(i) ? 700 : 400)
    })
  }
}

export function ringView(view, at) {
  view.marks.ring.setAttribute('d', at ? cellPath(view, [at[0]], [at[1]]) : '')
}

export function arrowOf({ text: words, w }, colours, measure) {
  const arrow = svg('svg', { class: 'arrow', width: w, height: 30, 'aria-hidden': 'true' })
  const from = 7
  const to = w - 7
  arrow.append(
    svg('path', { d: `M${from} 22H${to - 5}`, stroke: colours.quiet, 'stroke-width': 1.25, fill: 'none' }),
    svg('path', { d: `M${to - 6} 18.5L${to} 22L${to - 6} 25.5z`, fill: colours.quiet }),
    text(visible(words), (from + to) / 2, 14, FONT.arrow, colours.quiet, { 'text-anchor': 'middle' }))
  return arrow
}
