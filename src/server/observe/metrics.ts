import type { RunStatus } from '../../threads/contract.js'

/** The content type of what `render` returns. */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

/** The status of a run at its end. Runs that were `lost` or had `nothing` to do were never counted as started. */
type CountedEnd = RunStatus | 'nothing'

/**
 * Counts what a server does. Every value of a label comes from a small set: agents by name, routes by pattern, never by
 * path. No method throws.
 */
export interface Metrics {
  /** One `runEnded` must follow. */
  runStarted(labels: { readonly agent: string }): void
  runEnded(labels: { readonly agent: string; readonly status: CountedEnd }): void
  runDuration(labels: { readonly agent: string }, seconds: number): void
  /** Called once for a batch of events. */
  events(labels: { readonly agent: string }, count: number): void
  /** From the request to the first event. */
  firstEvent(labels: { readonly agent: string }, seconds: number): void
  /** One `streamClosed` must follow. */
  streamOpened(): void
  streamClosed(labels: { readonly reason: 'end' | 'client' | 'stalled' }): void
  leaseWait(labels: { readonly outcome: 'acquired' | 'refused' | 'timeout' }, seconds: number): void
  request(labels: { readonly route: string; readonly method: string; readonly status: number }): void
  hookFailed(labels: { readonly hook: string }): void
  storeFailed(): void
  /** Returns all metrics in the text format 0.0.4 of Prometheus. */
  render(): string
}

export function createMetrics(): Metrics {
  const { all, on } = createAllMetrics()
  return {
    runStarted({ agent }) {
      on.runsStarted.add([agent], 1)
      on.running.add([agent], 1)
    },
    runEnded({ agent, status }) {
      on.runsEnded.add([agent, status], 1)
      if (status !== 'lost' && status !== 'nothing') on.running.add([agent], -1)
    },
    runDuration: ({ agent }, seconds) => on.runDuration.observe([agent], seconds),
    events: ({ agent }, count) => on.events.add([agent], count),
    firstEvent: ({ agent }, seconds) => on.firstEvent.observe([agent], seconds),
    streamOpened: () => on.streams.add([], 1),
    streamClosed({ reason }) {
      on.streams.add([], -1)
      on.streamsClosed.add([reason], 1)
    },
    leaseWait: ({ outcome }, seconds) => on.leaseWait.observe([outcome], seconds),
    request: ({ route, method, status }) => on.requests.add([route, methodLabel(method), String(status)], 1),
    hookFailed: ({ hook }) => on.hookFailures.add([hook], 1),
    storeFailed: () => on.storeFailures.add([], 1),
    render: () => all.map((metric) => metric.render()).join(''),
  }
}

/** Seconds, from half a millisecond: an agent without a model answers that fast. */
const waitBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const leaseBuckets = [...waitBuckets, 30, 60]
const runBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800]

/** Creates the metrics in the order in which they are rendered. */
function createAllMetrics() {
  const all: Metric[] = []
  const add = <M extends Metric>(metric: M): M => {
    all.push(metric)
    return metric
  }
  const number = (type: 'counter' | 'gauge') => (name: string, help: string, labels: readonly string[]) =>
    add(createNumber(type, { name: `millrace_${name}`, help, labels }))
  const [counter, gauge] = [number('counter'), number('gauge')]
  const histogram = (name: string, help: string, shape: Omit<HistogramInfo, 'name' | 'help'>) =>
    add(createHistogram({ name: `millrace_${name}_seconds`, help, ...shape }))
  const on = {
    runsStarted: counter('runs_started_total', 'Runs that were started.', ['agent']),
    runsEnded: counter('runs_ended_total', 'Runs that have ended, by how.', ['agent', 'status']),
    running: gauge('runs_running', 'Runs that are live now.', ['agent']),
    runDuration: histogram('run_duration', 'How long runs took.', { labels: ['agent'], buckets: runBuckets }),
    events: counter('run_events_total', 'Events of runs.', ['agent']),
    firstEvent: histogram('run_first_event', 'From the request for a run to its first event.', {
      labels: ['agent'],
      buckets: waitBuckets,
    }),
    streams: gauge('streams_open', 'Event streams that are open now.', []),
    streamsClosed: counter('streams_closed_total', 'Event streams that were closed, by why.', ['reason']),
    leaseWait: histogram('lease_wait', 'How long runs waited for their thread, by what came of it.', {
      labels: ['outcome'],
      buckets: leaseBuckets,
    }),
    requests: counter('http_requests_total', 'Requests that were answered.', ['route', 'method', 'status']),
    hookFailures: counter('hook_failures_total', 'Calls of hooks that threw.', ['hook']),
    storeFailures: counter('store_failures_total', 'Operations of the store that failed.', []),
  }
  return { all, on }
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Clients can make up methods. */
function methodLabel(method: string): string {
  return methods.has(method) ? method : 'other'
}

/** One metric, of any kind. */
interface Metric {
  /** Returns its lines in the text format of Prometheus. */
  render(): string
}

interface MetricInfo {
  readonly name: string
  readonly help: string
  /** Names of the labels. Their values must come from a small, known set: each combination is kept for ever. */
  readonly labels: readonly string[]
}

/** A counter or a gauge. */
interface NumberMetric extends Metric {
  /** `values` are those of the labels, in their order. */
  add(values: readonly string[], amount: number): void
}

/** Creates a counter, which only grows, or a gauge, which goes up and down. Without labels it starts at 0. */
function createNumber(type: 'counter' | 'gauge', info: MetricInfo): NumberMetric {
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
interface Histogram extends Metric {
  /** `values` are those of the labels, in their order. A negative amount, as after a change of the clock, counts as 0. */
  observe(values: readonly string[], amount: number): void
}

interface HistogramInfo extends MetricInfo {
  /** Upper bounds, inclusive, in rising order. */
  readonly buckets: readonly number[]
}

function createHistogram(info: HistogramInfo): Histogram {
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
