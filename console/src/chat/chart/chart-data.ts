/** A chart: names along the axis, and numbers of one or more series. */
export interface ChartData {
  readonly title: string
  readonly kind: 'bar' | 'line'
  readonly labels: readonly string[]
  readonly series: readonly ChartSeries[]
}

interface ChartSeries {
  readonly name: string
  readonly values: readonly number[]
}

const maxPoints = 200
const maxSeries = 6

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads a chart from what agents usually send: `{ labels, series: [{ name, values }] }`, `{ labels, datasets: [{ label, data }] }`, or
 * `{ data: [{ label, value }] }` with any names. Undefined for anything else.
 */
export function toChart(value: unknown): ChartData | undefined {
  if (!isFields(value)) return undefined
  const inner = value.chart ?? value.props
  if (isFields(inner)) return toChart(inner)
  const table = fromSeries(value) ?? fromRecords(value.data ?? value.points ?? value.values)
  if (!table || table.labels.length === 0 || table.series.length === 0) return undefined
  const title = typeof value.title === 'string' ? value.title : ''
  const kind = [value.kind, value.type, value.chartType].includes('line') ? 'line' : 'bar'
  return { title, kind, ...table }
}

type Table = Pick<ChartData, 'labels' | 'series'>

function fromSeries({ labels, series, datasets, values }: Fields): Table | undefined {
  if (!Array.isArray(labels)) return undefined
  const given: unknown[] = Array.isArray(series) ? series : Array.isArray(datasets) ? datasets : [{ values }]
  const lists = given.every((one) => typeof one === 'number') ? [{ values: given }] : given
  const read = lists.slice(0, maxSeries).flatMap((one): ChartSeries[] => {
    if (!isFields(one)) return []
    const numbers = one.values ?? one.data
    if (!Array.isArray(numbers) || !numbers.every(isNumber)) return []
    return [{ name: textIn(one.name ?? one.label), values: numbers.slice(0, maxPoints) }]
  })
  return { labels: labels.slice(0, maxPoints).map(String), series: read }
}

function fromRecords(data: unknown): Table | undefined {
  if (!Array.isArray(data) || data.length === 0 || !data.every(isFields)) return undefined
  const points = data.slice(0, maxPoints)
  const [first] = points
  if (!first) return undefined
  const label = ['label', 'name', 'x', 'key', 'date', ...Object.keys(first)].find(
    (key) => key in first && (typeof first[key] === 'string' || key === 'x'),
  )
  const columns = Object.keys(first).filter(
    (key) => key !== label && points.every((point) => isNumber(point[key])),
  )
  return {
    labels: points.map((point, index) => String(label === undefined ? index + 1 : point[label])),
    series: columns
      .slice(0, maxSeries)
      .map((name) => ({ name, values: points.map((point) => point[name]).filter(isNumber) })),
  }
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
