// Where everything stands: pure arithmetic on labels, shapes and the width there is. Lengths in px.
const { visible, ellipsis, formatNumber } = await import('./text.js' + new URL(import.meta.url).search)

export const FONT = { title: 14, small: 12.5, note: 11.5, axis: 11, arrow: 12, bar: 10 }
export const NUMBERS_FROM = 28 // the smallest cell with a number in it
export const MOST_ELEMENTS = 30 // rows or columns of a matrix that is not drawn as pixels
const PHONE = 600
export const ARROWS_FROM = 700
const SCALE_FROM = 1000 // the strip with the colours of the scale
const FOOT = 28 // the read-out line
const ROW_GAP = 10
const MOST = { focus: 44, main: 22, strip: 14 } // cell sizes
const SHARES = [0.48, 0.43, 0.38, 0.33] // small cells of the main row, as a share of the cell in focus; the first that fits
const STRIP_SHARES = [0.25, 0.2, 0.15, 0.12, 0.09, 0.07] // of the rows above; a wide one must not make the cell in focus small
const LEAST_SHARES = [0.38, 0.33, 0.3, 0.27, 0.24] // of the main row, where that brings numbers into the cell in focus
const MOST_LARGE = 3000 // cells of a matrix that is drawn larger on demand
const LABELS = { focus: 96, main: 56, strip: 44 } // the longest label, after which it is cut
const FITS = { focus: 0.5, main: 0.22, strip: 0.28 } // of the width, for matrices with very many columns
const THUMB = { focus: 84, main: 64, strip: 44 } // how tall a thumbnail is at most: beside the focus, in the main row, elsewhere
const THUMB_SHARE = 0.48
const SIZES = [...Array.from({ length: 35 }, (_, i) => 44 - i), 9.5, 9, 8.5, 8, 7.5, 7, 6.5, 6, 5.5, 5, 4.5, 4, 3.5, 3,
  2.5, 2, 1.5, 1, 0.75, 0.5, 0.3, 0.2]

const widest = (texts, size, measure, weight) => texts.reduce((most, text) => Math.max(most, measure(text, size, weight)), 0)
// A number beside the scale of the colours.
export const scaleNumber = (value) => formatNumber(value, 2).replace(/\.0$/, '')

const snap = (size) => (size >= 8 ? Math.floor(size) : size >= 2 ? Math.floor(size * 2) / 2 : size)

// Size and inner geometry of one matrix with cells of `cell` px. `noted`: its row keeps a line for notes.
// `told`: what another matrix of the row says for this one as well, its row title or its scale.
export function blockOf(spec, role, cell, { noted, narrow, scale, measure, room = Infinity, large = false, told = {} }) {
  const [R, C] = spec.shape
  const many = Math.max(R, C) > 30
  const label = cell >= 10 ? Math.max(9, Math.min(13, Math.round(cell * 0.55))) : many && role === 'focus' ? 9 : 0
  const longest = narrow ? LABELS[role] * 0.7 : LABELS[role]
  const highest = cell < 14 ? Math.min(longest, 32) : longest // turned labels cost height, which small cells lack
  // All of a row have their rows in common, so one of them says what they are; columns are named wherever there is room.
  const rowTitle = role === 'focus' && !told.rows ? spec.axisTitles[0] : ''
  const columnTitle = role === 'focus' || (role === 'main' && cell >= 14) ? spec.axisTitles[1] : ''
  const rowText = label ? Math.min(longest, widest(spec.rowTexts, label, measure, 700)) : 0
  const columnText = label ? Math.min(highest, widest(spec.columnTexts, label, measure)) : 0
  // Of a large map only every so-many-th row and column is labelled.
  const everyRow = cell >= 10 ? 1 : Math.ceil(12 / cell)
  const everyColumn = cell >= 10 ? 1 : Math.ceil((columnText + 6) / cell)
  // Chinese characters that touch read as text; numbers that touch read as another number.
  const apart = cell >= 14 || spec.columnTexts.some((text) => /\d/.test(text)) ? 2 : 0.5
  const slant = !label || columnText <= cell * everyColumn - apart ? 0 : cell >= 1.6 * label ? 45 : 90
  const heads = !label ? 4 : slant === 0 ? label + 5 : slant === 45 ? columnText * 0.71 + label * 0.6 + 4 : columnText + 6
  const title = role === 'strip' ? FONT.small : FONT.title
  const titleHeight = Math.round(title * 1.35)
  const noteHeight = role !== 'strip' && noted ? 16 : 0
  const left = Math.ceil(2 + (rowTitle ? FONT.axis + 6 : 0) + (rowText ? rowText + 6 : 0))
  const top = Math.ceil(titleHeight + noteHeight + (columnTitle ? FONT.axis + 4 : 0) + heads)
  const width = C * cell
  const bar = role === 'focus' && scale && !told.scale
  const over = slant === 45 ? Math.max(0, columnText * 0.71 + label * 0.4 - cell / 2) : 0
  // Room for its numbers with the sign for values beyond, whether that is there or not: a slider must not move the picture.
  const scaleText = bar ? widest([`≥ ${scaleNumber(spec.limits[1])}`, `≤ ${scaleNumber(spec.limits[0])}`], FONT.bar, measure) : 0
  const right = Math.ceil(Math.max(bar ? Math.max(46, 24 + scaleText) : 2, over))
  const inline = role === 'strip' && spec.note ? 7 + measure(spec.note, FONT.note) : 0
  const titleWidth = Math.ceil(measure(spec.title, title, 600)) + 1
  const words = Math.max(titleWidth + inline, noteHeight && spec.note ? measure(spec.note, FONT.note) + 1 : 0)
  const heading = Math.min(room, Math.ceil(words)) // a title with too little room is cut
  const spare = Math.max(0, heading - width)
  // A turned title may be longer than its matrix is high: it starts higher, and the block grows if it must.
  const turned = rowTitle ? Math.ceil(measure(rowTitle, FONT.axis)) + 4 : 0
  const free = titleHeight + noteHeight
  const h = Math.ceil(Math.max(top + R * cell + 1 + (bar ? Math.max(0, (44 - R * cell) / 2) : 0), turned && free + turned)) // the scale may be taller
  const rowTitleAt = Math.max(free + turned / 2, Math.min(top + (R * cell) / 2, h - turned / 2))
  return {
    role, cell, large, label, everyRow, everyColumn, longest, highest, slant, heads, title, titleHeight, noteHeight, left, top, width, bar, rowTitle, rowTitleAt, columnTitle,
    height: R * cell,
    titleLeft: Math.max(0, left - spare),
    noteLeft: Math.max(0, left - spare) + (role === 'strip' ? titleWidth + 7 : 0),
    w: Math.ceil(Math.max(left + width + right, heading + Math.max(0, left - spare))),
    h,
  }
}

function cellFor(spec, role, focusCell, shares, width, beside) {
  if (spec.pixels && role !== 'focus') {
    return snap(Math.min(Math.max(focusCell * THUMB_SHARE, 2.5), THUMB[beside ? 'focus' : role] / spec.shape[0], (width * FITS[role]) / spec.shape[1]))
  }
  const part = { focus: 1, ...shares }[role]
  const least = role === 'focus' || focusCell < 3 ? 0 : role === 'strip' && focusCell >= 34 && part === STRIP_SHARES[0] ? 10 : 2.5
  const wanted = Math.min(MOST[role], Math.max(focusCell * part, least))
  return snap(Math.min(wanted, (width * FITS[role]) / spec.shape[1]))
}

// What is said once in a row of large matrices: the title of the rows by the first, the scale of the weights by the last.
// Signed scales are told by each, since each says whether its own values go beyond.
function toldElsewhere(specs, role) {
  const large = specs.map((spec) => role(spec) === 'focus')
  const alike = (a, b) => a.fill === 'weight' && b.fill === 'weight' && a.limits.join() === b.limits.join()
  return specs.map((spec, i) => ({
    rows: specs.some((other, j) => j < i && large[j] && other.axisTitles[0] === spec.axisTitles[0]),
    scale: specs.some((other, j) => j > i && large[j] && alike(spec, other)),
  }))
}

// One row: grids centred on a common line, arrows between them. Returns what the row needs.
function placeRow(specs, role, cells, width, options, arrows) {
  const noted = specs.some((spec) => spec.note)
  const told = toldElsewhere(specs, role)
  const items = specs.map((spec, i) => ({ spec, block: blockOf(spec, role(spec), cells(spec, i), { ...options, noted, told: told[i] }) }))
  let x = 0
  items.forEach((item, i) => {
    const text = item.spec.arrow ? options.measure(item.spec.arrow, FONT.arrow) : 0
    item.gap = item.spec.arrow && arrows ? Math.max(40, Math.ceil(text) + 18) : i ? 24 : 0
    x += item.gap + item.block.w
  })
  const gaps = items.filter((item) => item.gap).length
  const stretch = arrows && gaps ? Math.max(0, Math.min(20, Math.floor((width - x) / gaps))) : 0
  const above = Math.max(...items.map(({ block }) => block.top + block.height / 2))
  const below = Math.max(...items.map(({ block }) => block.h - block.top - block.height / 2))
  return { items, width: x, stretch, above, below, height: above + below }
}

function put(row, y, arrows, plan) {
  let x = 0
  for (const { spec, block, gap } of row.items) {
    const wide = gap ? gap + row.stretch : 0
    if (spec.arrow && arrows) plan.arrows.push({ name: spec.name, text: spec.arrow, x, w: wide, y: y + row.above })
    x += wide
    plan.blocks.set(spec.name, { ...block, x, y: Math.round(y + row.above - block.top - block.height / 2) })
    x += block.w
  }
}

// The rows at one size of the cell in focus, where they fit the width. A row above takes the first share that fits.
function rowsAt(place, count, size, share, width, strips = STRIP_SHARES) {
  const made = Array.from({ length: count }, (_, i) => {
    for (const strip of strips) {
      const row = place(i, size, { main: share, strip })
      if (row.width <= width) return row
    }
    return place(i, size, { main: share, strip: STRIP_SHARES.at(-1) })
  })
  const height = made.reduce((sum, row) => sum + row.height, 0) + ROW_GAP * (count - 1)
  return { made, height, fits: made.every((row) => row.width <= width) }
}

// Numbers in the cells in focus are worth smaller cells around it, first of the rows above.
function numberedRows(place, count, width, tall) {
  for (const share of LEAST_SHARES) {
    for (const first of [0, 2, 4]) {
      const rows = rowsAt(place, count, NUMBERS_FROM, share, width, STRIP_SHARES.slice(first))
      if (rows.fits && rows.height <= tall - FOOT) return rows
    }
  }
  return null
}

function firstThat(place, count, width, tall) {
  let last = null
  for (const size of SIZES) {
    if (size === NUMBERS_FROM - 1) {
      const numbered = numberedRows(place, count, width, tall)
      if (numbered) return numbered.made
    }
    for (const share of SHARES) {
      last = rowsAt(place, count, size, share, width)
      if (last.height > tall - FOOT) break
      if (last.fits) return last.made
    }
  }
  return last.made
}

// Desktop: the largest cells with which every row fits the width and all rows together fit the height.
function inRows(rows, focus, width, tall, options, arrows = width >= ARROWS_FROM) {
  const role = (spec, i) => (spec.name === focus || spec.large ? 'focus' : i === rows.length - 1 ? 'main' : 'strip')
  const place = (i, size, shares) => {
    const beside = rows[i].some((one) => one.name === focus)
    return placeRow(rows[i], (spec) => role(spec, i), (spec) => cellFor(spec, role(spec, i), size, shares, width, beside), width, options, arrows)
  }
  const made = firstThat(place, rows.length, width, tall)
  const plan = { blocks: new Map(), arrows: [], width }
  let y = 0
  for (const row of made) {
    put(row, y, arrows, plan)
    y += row.height + ROW_GAP
  }
  plan.height = Math.ceil(y - ROW_GAP)
  return plan
}

const roomOf = (abreast, width) => (width + 16) / abreast - 16

// Phone: the focus at full width, then the rest of the main row two abreast, then the strip.
function inOneColumn(rows, focus, width, options) {
  const narrow = { ...options, narrow: true }
  const all = rows.flat()
  const main = rows[rows.length - 1]
  const lines = all.filter((spec) => spec.name === focus).map((spec) => ({ specs: [spec], role: 'focus', abreast: 1 }))
  const thumbs = (row) => row.every((spec) => spec.pixels)
  const from = rows.findIndex((row) => thumbs(row) && row.some((spec) => spec.name === focus))
  // What follows the thumbnails in focus is computed from them: it stays in its order.
  const order = from < 0 ? [main, ...rows.slice(0, -1)] : [...rows.slice(from), ...rows.slice(0, from)]
  const groups = order.map((row) => [row === main ? 'main' : 'strip', row])
  for (const [role, row] of groups) {
    const abreast = role === 'strip' && thumbs(row) ? 4 : 2 // thumbnails go four to a line
    for (const specs of bySize(row.filter((spec) => spec.name !== focus))) {
      const tallest = abreast === 4 ? THUMB.focus / Math.max(...specs.map((spec) => spec.shape[0])) : Infinity
      const cell = Math.min(fittingCell(specs, role, roomOf(abreast, width), narrow), tallest)
      for (let i = 0; i < specs.length; i += abreast) lines.push({ specs: specs.slice(i, i + abreast), role, cell, abreast })
    }
  }
  const plan = { blocks: new Map(), arrows: [], width }
  let y = 0
  for (const { specs, role, abreast, cell } of lines) {
    const room = abreast === 1 ? width : Math.floor(roomOf(abreast, width))
    const size = cell ?? fittingCell(specs, role, width, narrow)
    const row = placeRow(specs, () => role, (spec) => oneCell(spec, role, size, room, narrow), width, { ...narrow, room }, false)
    row.items.forEach(({ spec, block }, i) => {
      const place = { x: i * Math.ceil((width + 16) / abreast), y: Math.round(y + row.above - block.top - block.height / 2) }
      plan.blocks.set(spec.name, { ...block, ...place })
    })
    y += row.height + 16
  }
  plan.height = Math.ceil(Math.max(0, y - 16))
  return plan
}

const fits = (spec, role, cell, width, options) => blockOf(spec, role, cell, { ...options, noted: true, room: width }).w <= width

// Large matrices among others: parts of a row that share a size of cell.
function bySize(row) {
  const parts = [row.filter((spec) => spec.large), row.filter((spec) => !spec.large)]
  return parts.filter((part) => part.length)
}

// The largest cell with which most of these fit; a matrix with far more columns gets a smaller one of its own.
function fittingCell(specs, role, width, options) {
  const usual = specs.filter((spec) => spec.shape[1] <= 30)
  const most = role === 'focus' ? MOST.focus : role === 'main' ? MOST.main : MOST.strip
  return SIZES.find((cell) => cell <= most && (usual.length ? usual : specs).every((spec) => fits(spec, role, cell, width, options))) ?? 0.2
}

function oneCell(spec, role, size, width, options) {
  return SIZES.find((cell) => cell <= size && fits(spec, role, cell, width, options)) ?? 0.2
}

// Whether the matrix in focus has cells too small for numbers, and few enough to be drawn larger.
export function canGrow(spec, block) {
  return (block.cell < NUMBERS_FROM || Math.max(...spec.shape) > MOST_ELEMENTS) && spec.shape[0] * spec.shape[1] <= MOST_LARGE
}

// On demand: the focus with a number in every cell, wider than the page if it must be, and the others below it.
export function arrangeLarge(rows, focus, width, measure, tall = 450) {
  const narrow = width <= PHONE
  const options = { measure, narrow, scale: width >= SCALE_FROM }
  const spec = rows.flat().find(({ name }) => name === focus)
  const grown = { ...options, noted: Boolean(spec.note), large: true }
  const sizes = SIZES.filter((size) => size >= NUMBERS_FROM)
  const cell = sizes.find((size) => blockOf(spec, 'focus', size, grown).w <= width) ?? NUMBERS_FROM
  const block = blockOf(spec, 'focus', cell, grown)
  const others = rows.map((row) => row.filter(({ name }) => name !== focus)).filter((row) => row.length)
  const plan = !others.length ? { blocks: new Map(), arrows: [], width, height: 0 }
    : narrow ? inOneColumn(others, '', width, options) : inRows(others, '', width, tall, options, false)
  for (const place of plan.blocks.values()) place.y += block.h + 16
  plan.blocks.set(focus, { ...block, x: 0, y: 0 })
  return { ...plan, width: Math.max(width, block.w), height: block.h + 16 + plan.height }
}

// rows: lists of {name, title, note, arrow, shape, rowTexts, columnTexts, axisTitles}; measure(text, size, weight) in px.
export function arrange(rows, focus, width, measure, tall = 450) {
  const options = { measure, narrow: false, scale: width >= SCALE_FROM }
  return width <= PHONE ? inOneColumn(rows, focus, width, options) : inRows(rows, focus, width, tall, options)
}

// What a label says where it stands, cut to the room it has.
export function shownLabel(text, block, room, measure) {
  return ellipsis(visible(text), room + 0.5, block.label, measure)
}
