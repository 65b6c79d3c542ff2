import { describe, expect, test } from 'vitest'
import { createMetrics, type Metrics, metricsContentType } from './metrics.js'

interface Sample {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly value: number
}

interface Family {
  readonly type: string
  readonly samples: Sample[]
}

const namePattern = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const labelPattern = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"'
const headLine = new RegExp(`^# (HELP|TYPE) (${namePattern}) (.+)$`)
const sampleLine = new RegExp(
  `^(${namePattern})(?:\\{(${labelPattern}(?:,${labelPattern})*)\\})? ([0-9.e+-]+)$`,
)

/** Reads the text format, and takes nothing that is not exactly in it. */
function parse(text: string): Map<string, Family> {
  const families = new Map<string, Family>()
  let current: { readonly name: string; readonly family: Family } | undefined
  let described: string | undefined
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name = '', rest = ''] = headLine.exec(line) ?? []
    if (kind === 'HELP') {
      if (families.has(name)) throw new Error(`${name} comes twice`)
      described = name
    } else if (kind === 'TYPE') {
      if (described !== name) throw new Error(`TYPE without HELP: ${line}`)
      current = { name, family: { type: rest, samples: [] } }
      families.set(name, current.family)
    } else {
      const sample = parseSample(line)
      const base =
        current?.family.type === 'histogram' ? sample.name.replace(/_(bucket|sum|count)$/, '') : sample.name
      if (current?.name !== base) throw new Error(`a sample of another metric: ${line}`)
      current.family.samples.push(sample)
    }
  }
  return families
}

function parseSample(line: string): Sample {
  const match = sampleLine.exec(line)
  if (!match) throw new Error(`no sample: ${line}`)
  const [, name = '', labels = '', value = ''] = match
  if (Number.isNaN(Number(value))) throw new Error(`no number: ${line}`)
  const pairs = (labels.match(new RegExp(labelPattern, 'g')) ?? []).map((pair): [string, string] => {
    const middle = pair.indexOf('=')
    return [pair.slice(0, middle), JSON.parse(pair.slice(middle + 1)) as string]
  })
  return { name, labels: new Map(pairs), value: Number(value) }
}

/** Throws unless buckets rise to +Inf, which is the count, for every series of a histogram. */
function checkHistogram(name: string, { samples }: Family): void {
  const others = ({ labels }: Sample) => JSON.stringify([...labels].filter(([label]) => label !== 'le'))
  for (const series of new Set(samples.map(others))) {
    const group = samples.filter((one) => others(one) === series)
    const buckets = group.filter((one) => one.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => labels.get('le') ?? '')
    const numbers = bounds.map((bound) => (bound === '+Inf' ? Infinity : Number(bound)))
    expect(bounds.at(-1)).toBe('+Inf')
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
    const counts = buckets.map(({ value }) => value)
    expect(counts).toEqual(counts.toSorted((a, b) => a - b))
    expect(group.find((one) => one.name === `${name}_count`)?.value).toBe(counts.at(-1))
    expect(group.filter((one) => one.name === `${name}_sum`)).toHaveLength(1)
    expect(group).toHaveLength(buckets.length + 2)
  }
}

function valueOf(metrics: Metrics, name: string, labels: Readonly<Record<string, string>> = {}) {
  const all = [...parse(metrics.render()).values()].flatMap(({ samples }) => samples)
  const wanted = JSON.stringify(Object.entries(labels))
  return all.find((one) => one.name === name && JSON.stringify([...one.labels]) === wanted)?.value
}

/** Metrics that have seen everything once. */
function busyMetrics(): Metrics {
  const metrics = createMetrics()
  metrics.request({ route: '/agents/{name}/runs', method: 'POST', status: 200 })
  metrics.leaseWait({ outcome: 'acquired' }, 0.002)
  metrics.leaseWait({ outcome: 'timeout' }, 30)
  metrics.runStarted({ agent: 'guide' })
  metrics.streamOpened()
  metrics.firstEvent({ agent: 'guide' }, 0.0004)
  metrics.events({ agent: 'guide' }, 40)
  metrics.runDuration({ agent: 'guide' }, 3600)
  metrics.runEnded({ agent: 'guide', status: 'completed' })
  metrics.streamClosed({ reason: 'end' })
  metrics.hookFailed({ hook: 'event' })
  metrics.storeFailed()
  return metrics
}

describe('the text', () => {
  test('is valid before anything happened, with what has no labels at 0', () => {
    const families = parse(createMetrics().render())
    const samples = [...families.values()].flatMap((family) => family.samples)
    expect(samples.map(({ name, value }) => [name, value])).toEqual([
      ['millrace_streams_open', 0],
      ['millrace_store_failures_total', 0],
    ])
  })

  test('is valid when everything has happened, and has something of every metric', () => {
    const families = parse(busyMetrics().render())
    expect([...families].map(([name, { type }]) => `${name} ${type}`)).toEqual([
      'millrace_runs_started_total counter',
      'millrace_runs_ended_total counter',
      'millrace_runs_running gauge',
      'millrace_run_duration_seconds histogram',
      'millrace_run_events_total counter',
      'millrace_run_first_event_seconds histogram',
      'millrace_streams_open gauge',
      'millrace_streams_closed_total counter',
      'millrace_lease_wait_seconds histogram',
      'millrace_http_requests_total counter',
      'millrace_hook_failures_total counter',
      'millrace_store_failures_total counter',
    ])
    for (const [name, family] of families) {
      expect(family.samples, name).not.toHaveLength(0)
      if (family.type === 'histogram') checkHistogram(name, family)
    }
  })

  test('says which version of the format it is', () => {
    expect(metricsContentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  })

  test('keeps whatever stands in a label inside of its quotes', () => {
    const metrics = createMetrics()
    const agent = 'a "b"} 1\nfake_total 7 \\ \\n'
    metrics.events({ agent }, 3)
    metrics.runDuration({ agent }, 1)
    expect(valueOf(metrics, 'millrace_run_events_total', { agent })).toBe(3)
    expect(valueOf(metrics, 'millrace_run_duration_seconds_count', { agent })).toBe(1)
  })
})

describe('runs', () => {
  test('are at work from their start to their end, for each agent', () => {
    const metrics = createMetrics()
    metrics.runStarted({ agent: 'a' })
    metrics.runStarted({ agent: 'a' })
    metrics.runStarted({ agent: 'b' })
    metrics.runEnded({ agent: 'a', status: 'failed' })
    expect(valueOf(metrics, 'millrace_runs_running', { agent: 'a' })).toBe(1)
    expect(valueOf(metrics, 'millrace_runs_running', { agent: 'b' })).toBe(1)
    expect(valueOf(metrics, 'millrace_runs_started_total', { agent: 'a' })).toBe(2)
    expect(valueOf(metrics, 'millrace_runs_ended_total', { agent: 'a', status: 'failed' })).toBe(1)
  })

  test.each(['lost', 'nothing'] as const)('that end as %s were not at work here', (status) => {
    const metrics = createMetrics()
    metrics.runStarted({ agent: 'a' })
    metrics.runEnded({ agent: 'a', status })
    expect(valueOf(metrics, 'millrace_runs_running', { agent: 'a' })).toBe(1)
    expect(valueOf(metrics, 'millrace_runs_ended_total', { agent: 'a', status })).toBe(1)
  })

  test('have their events counted by the batch', () => {
    const metrics = createMetrics()
    metrics.events({ agent: 'a' }, 12)
    metrics.events({ agent: 'a' }, 30)
    expect(valueOf(metrics, 'millrace_run_events_total', { agent: 'a' })).toBe(42)
  })
})

describe('streams', () => {
  test('are open until they are closed, for whatever reason', () => {
    const metrics = createMetrics()
    metrics.streamOpened()
    metrics.streamOpened()
    metrics.streamClosed({ reason: 'stalled' })
    expect(valueOf(metrics, 'millrace_streams_open')).toBe(1)
    expect(valueOf(metrics, 'millrace_streams_closed_total', { reason: 'stalled' })).toBe(1)
  })
})

describe('requests', () => {
  test('are counted by route, method and status', () => {
    const metrics = createMetrics()
    const labels = { route: '/threads/{id}', method: 'GET' }
    metrics.request({ ...labels, status: 200 })
    metrics.request({ ...labels, status: 200 })
    metrics.request({ ...labels, status: 404 })
    expect(valueOf(metrics, 'millrace_http_requests_total', { ...labels, status: '200' })).toBe(2)
    expect(valueOf(metrics, 'millrace_http_requests_total', { ...labels, status: '404' })).toBe(1)
  })

  test('with made-up methods are counted as one', () => {
    const metrics = createMetrics()
    for (const method of ['BREW', 'WHEN', 'get']) metrics.request({ route: '/', method, status: 405 })
    const labels = { route: '/', method: 'other', status: '405' }
    expect(valueOf(metrics, 'millrace_http_requests_total', labels)).toBe(3)
  })
})

describe('times', () => {
  const bucket = (metrics: Metrics, le: string) =>
    valueOf(metrics, 'millrace_run_first_event_seconds_bucket', { agent: 'a', le })

  test('fall into every bucket whose bound they do not exceed', () => {
    const metrics = createMetrics()
    for (const seconds of [0.0005, 0.00051, 10, 10.1]) metrics.firstEvent({ agent: 'a' }, seconds)
    expect(['0.0005', '0.001', '5', '10', '+Inf'].map((le) => bucket(metrics, le))).toEqual([1, 2, 2, 3, 4])
    expect(valueOf(metrics, 'millrace_run_first_event_seconds_sum', { agent: 'a' })).toBeCloseTo(20.10101)
  })

  test('that are no times do not spoil the sum', () => {
    const metrics = createMetrics()
    for (const seconds of [-3, NaN, 2]) metrics.firstEvent({ agent: 'a' }, seconds)
    expect(bucket(metrics, '0.0005')).toBe(2)
    expect(valueOf(metrics, 'millrace_run_first_event_seconds_sum', { agent: 'a' })).toBe(2)
  })
})
