import { createSeries, heading, sample, type Metric, type MetricInfo } from './labels.js'

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
