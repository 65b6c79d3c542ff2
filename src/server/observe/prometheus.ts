/** What every metric says of itself. */
export interface MetricInfo {
  readonly name: string
  readonly help: string
  /** The names of its labels. Their values must come from a small, known set: each combination is kept for ever. */
  readonly labels: readonly string[]
}

/** A metric, in one of its kinds. */
export interface Metric {
  /** Its lines in the text format of Prometheus, each with its end. */
  render(): string
}

/** The two lines above the samples of a metric. */
export function heading({ name, help }: MetricInfo, type: 'counter' | 'gauge' | 'histogram'): string {
  const text = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return `# HELP ${name} ${text}\n# TYPE ${name} ${type}\n`
}

/** One sample. `labels` is what stands between the braces. */
export function sample(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`
}

/** Label names and values as they are written. */
function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escapeValue(values[index] ?? '')}"`).join(',')
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** Keeps one `T` for every combination of label values. */
export function createSeries<T>(names: readonly string[], create: (labels: string) => T) {
  const byKey = new Map<string, T>()
  return {
    of(values: readonly string[]): T {
      const key = values.join('\0')
      let found = byKey.get(key)
      if (found === undefined) {
        found = create(labelText(names, values))
        byKey.set(key, found)
      }
      return found
    },
    all: () => byKey.values(),
  }
}

/** A number that is added to. */
export interface NumberMetric extends Metric {
  /** `values` are those of the labels, in their order. */
  add(values: readonly string[], amount: number): void
}

/** A counter, which only grows, or a gauge, which goes up and down. Without labels it stands at 0 from the start. */
export function createNumber(type: 'counter' | 'gauge', info: MetricInfo): NumberMetric {
  const series = createSeries(info.labels, (labels) => ({ labels, value: 0 }))
  if (info.labels.length === 0) series.of([])
  return {
    add(values, amount) {
      series.of(values).value += amount
    },
    render() {
      const lines = Array.from(series.all(), ({ labels, value }) => sample(info.name, labels, value))
      return heading(info, type) + lines.join('')
    },
  }
}

/** How often something took how long. */
export interface Histogram extends Metric {
  /** `values` are those of the labels, in their order. Less than nothing, as after a change of the clock, counts as 0. */
  observe(values: readonly string[], amount: number): void
}

export interface HistogramInfo extends MetricInfo {
  /** Upper bounds, inclusive, in rising order. */
  readonly buckets: readonly number[]
}

export function createHistogram(info: HistogramInfo): Histogram {
  const { name, buckets } = info
  // Each holds its own bucket only, the last one what is beyond all bounds. They are added up when they are shown.
  const series = createSeries(info.labels, (labels) => ({ labels, counts: countersFor(buckets), sum: 0 }))
  return {
    observe(values, amount) {
      const one = series.of(values)
      const value = amount > 0 ? amount : 0
      const found = buckets.findIndex((bound) => value <= bound)
      const index = found === -1 ? buckets.length : found
      one.counts[index] = (one.counts[index] ?? 0) + 1
      one.sum += value
    },
    render() {
      let text = heading(info, 'histogram')
      for (const { labels, counts, sum } of series.all()) {
        const before = labels === '' ? '' : `${labels},`
        let total = 0
        for (const [index, count] of counts.entries()) {
          total += count
          text += sample(`${name}_bucket`, `${before}le="${buckets[index] ?? '+Inf'}"`, total)
        }
        text += sample(`${name}_sum`, labels, sum) + sample(`${name}_count`, labels, total)
      }
      return text
    },
  }
}

function countersFor(buckets: readonly number[]): number[] {
  return Array.from({ length: buckets.length + 1 }, () => 0)
}
