// What stands under the picture: the numbers as a table, and the picture as a file.
const { visible, formatNumber, formatWhole } = await import('./text.js' + new URL(import.meta.url).search)
const { svg } = await import('./draw.js' + new URL(import.meta.url).search)
const { FONT } = await import('./layout.js' + new URL(import.meta.url).search)

function cell(tag, content, scope) {
  const element = document.createElement(tag)
  element.textContent = content
  if (scope) element.scope = scope
  return element
}

// The matrix as a table for reading, copying and screen readers.
export function fillTable(table, spec, words) {
  const [R, C] = spec.shape
  const caption = document.createElement('caption')
  caption.textContent = spec.title
  const head = document.createElement('tr')
  head.append(cell('td', ''), ...spec.columns.map((name) => cell('th', visible(name), 'col')))
  const rows = Array.from({ length: R }, (_, r) => {
    const row = document.createElement('tr')
    row.append(cell('th', visible(spec.rows[r]), 'row'))
    for (let c = 0; c < C; c++) {
      const i = r * C + c
      row.append(cell('td', spec.hidden?.[i] ? spec.hiddenAs || words.hidden : Number.isNaN(spec.values[i]) ? words.nan : spec.whole ? formatWhole(spec.values[i]) : formatNumber(spec.values[i])))
    }
    return row
  })
  table.replaceChildren(caption, head, ...rows)
}

function piece(view, colours) {
  const { block, spec } = view
  const group = svg('g', { transform: `translate(${block.x} ${block.y})` })
  const base = Math.round(block.title)
  group.append(svg('text', { x: block.titleLeft, y: base, 'font-size': block.title, 'font-weight': 600,
    fill: colours.identity[spec.identity] }, visible(spec.title)))
  if (spec.note) {
    group.append(svg('text', { x: block.noteLeft, y: block.role === 'strip' ? base : block.titleHeight + 12,
      'font-size': FONT.note, fill: colours.quiet }, visible(spec.note)))
  }
  if (view.canvas) {
    group.append(svg('image', { x: block.left, y: block.top, width: block.width, height: block.height, href: view.canvas.toDataURL() }))
  }
  const copy = view.svg.cloneNode(true)
  for (const element of copy.querySelectorAll('*')) {
    for (const name of ['role', 'tabindex', 'aria-label', 'class']) element.removeAttribute(name)
  }
  group.append(...copy.childNodes)
  return group
}

// The whole picture as one SVG document in its present colours.
export function pictureOf(views, arrows, plan, colours, font, summary) {
  const margin = 16
  const width = plan.width + 2 * margin
  const height = plan.height + 2 * margin
  const inner = svg('g', { transform: `translate(${margin} ${margin})` })
  for (const view of views) inner.append(piece(view, colours))
  for (const { element, x, y } of arrows) {
    const group = svg('g', { transform: `translate(${x} ${y})` })
    group.append(...element.cloneNode(true).childNodes)
    inner.append(group)
  }
  const picture = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`,
    'font-family': font, style: 'font-variant-numeric: tabular-nums' },
  svg('title', {}, visible(summary)), svg('rect', { width, height, fill: colours.page }), inner)
  return new XMLSerializer().serializeToString(picture)
}

export function saveFile(content, name) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([content], { type: 'image/svg+xml' }))
  link.download = name.endsWith('.svg') ? name : `${name}.svg`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
