// What ui/matrix.py sends, read back: its `encode` describes the bytes.
const { fillText, visible } = await import('./text.js' + new URL(import.meta.url).search)

export function decode(bytes) {
  if (bytes.byteOffset % 4) bytes = bytes.slice()
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)))
  const start = bytes.byteOffset + 4 + length
  header.rows = header.rows.map((row) => row.map((entry) => decodeMatrix(entry, header, bytes.buffer, start)))
  return header
}

function decodeMatrix(sent, { labels, kinds, words }, buffer, start) {
  const entry = { arrow: '', hidden: null, order: [], ...kinds[sent.kind], ...sent }
  entry.marks ??= entry.axes
  const rows = labels[entry.rows]
  const columns = labels[entry.columns]
  const size = rows.length * columns.length
  const [low, high] = entry.limits
  const values = entry.wire === 'u8'
    ? Float32Array.from(new Uint8Array(buffer, start + entry.at, size), (byte) => low + (byte / 254) * (high - low))
    : new Float32Array(buffer, start + entry.at, size)
  let hidden = null
  if (entry.hidden !== null) {
    const bits = new Uint8Array(buffer, start + entry.hidden, Math.ceil(size / 8))
    hidden = Uint8Array.from({ length: size }, (_, i) => (bits[i >> 3] >> (i & 7)) & 1)
  }
  const shape = [rows.length, columns.length]
  const gridWords = fillText(words.grid, { title: entry.title, rows: `${shape[0]}`, columns: `${shape[1]}` })
  return { ...entry, rows, columns, values, hidden, shape, gridWords, limitsKey: entry.limits.join(),
    rowTexts: rows.map(visible), columnTexts: columns.map(visible) }
}
