import { createSeries, heading, sample, type Metric, type MetricInfo } from './labels.js'

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
