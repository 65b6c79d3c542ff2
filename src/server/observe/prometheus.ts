/** One metric, of any kind. */
export interface Metric {
  /** Returns its lines in the text format of Prometheus. */
  render(): string
}

export interface MetricInfo {
  readonly name: string
  readonly help: string
  /** Names of the labels. Their values must come from a small, known set: each combination is kept for ever. */
  readonly labels: readonly string[]
}

/** A counter or a gauge. */
export interface NumberMetric extends Metric {
  /** `values` are those of the labels, in their order. */
  add(values: readonly string[], amount: number): void
}

/** Creates a counter, which only grows, or a gauge, which goes up and down. Without labels it starts at 0. */
export function createNumber(type: 'counter' | 'gauge', info: MetricInfo): NumberMetric {
  const series = createSeries(info.labels, (labels) => ({ labels, value: 0 }))
  if (info.labels.length === 0) series.get([])
  return {
    add(values, amount) {
      series.get(values).value += amount
    },
    render() {
      const lines = Array.from(series.all(), ({ labels, value }) => sampleLine(info.name, labels, value))
      return header(info, type) + lines.join('')
    },
  }
}

/** The distribution of amounts over buckets. */
export interface Histogram extends Metric {
  /** `values` are those of the labels, in their order. A negative amount, as after a change of the clock, counts as 0. */
  observe(values: readonly string[], amount: number): void
}

export interface HistogramInfo extends MetricInfo {
  /** Upper bounds, inclusive, in rising order. */
  readonly buckets: readonly number[]
}

export function createHistogram(info: HistogramInfo): Histogram {
  const { name, buckets } = info
  // Each count is that of one bucket, the last that of amounts beyond all bounds. `render` adds them up.
  const series = createSeries(info.labels, (labels) => ({
    labels,
    counts: Array.from({ length: buckets.length + 1 }, () => 0),
    sum: 0,
  }))
  return {
    observe(values, amount) {
      const one = series.get(values)
      const value = amount > 0 ? amount : 0
      const found = buckets.findIndex((bound) => value <= bound)
      const index = found === -1 ? buckets.length : found
      one.counts[index] = (one.counts[index] ?? 0) + 1
      one.sum += value
    },
    render() {
      let text = header(info, 'histogram')
      for (const { labels, counts, sum } of series.all()) {
        const before = labels === '' ? '' : `${labels},`
        let total = 0
        for (const [index, count] of counts.entries()) {
          total += count
          text += sampleLine(`${name}_bucket`, `${before}le="${buckets[index] ?? '+Inf'}"`, total)
        }
        text += sampleLine(`${name}_sum`, labels, sum) + sampleLine(`${name}_count`, labels, total)
      }
      return text
    },
  }
}

/** Keeps one `T` for every combination of label values. */
function createSeries<T>(names: readonly string[], create: (labels: string) => T) {
  const byKey = new Map<string, T>()
  return {
    get(values: readonly string[]): T {
      const key = values.join('\0')
      let found = byKey.get(key)
      if (found === undefined) {
        found = create(renderLabels(names, values))
        byKey.set(key, found)
      }
      return found
    },
    all: () => byKey.values(),
  }
}

function header({ name, help }: MetricInfo, type: 'counter' | 'gauge' | 'histogram'): string {
  const text = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return `# HELP ${name} ${text}\n# TYPE ${name} ${type}\n`
}

/** `labels` stand between the braces. */
function sampleLine(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`
}

function renderLabels(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escapeLabel(values[index] ?? '')}"`).join(',')
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
