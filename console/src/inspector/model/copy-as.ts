import type { Violation } from 'millrace/testing'
import type { ClientContent } from './time-travel.js'
import type { RunFile } from './run-file.js'

/** Headers that a copy does not give away. */
const secretHeader = /authori[sz]ation|cookie|token|secret|api-?key/i

/** The command line that sends the run's request again. Secrets become variables of the shell. */
export function toCurl(url: string, input: unknown, headers: Readonly<Record<string, string>> = {}): string {
  const all = { 'content-type': 'application/json', accept: 'text/event-stream', ...headers }
  const lines = Object.entries(all).map(([name, value]) =>
    secretHeader.test(name) ? `-H "${name}: $${variableOf(name)}"` : `-H ${quote(`${name}: ${value}`)}`,
  )
  return [`curl -N ${quote(url)}`, ...lines, `--data-raw ${quote(JSON.stringify(input))}`].join(' \\\n  ')
}

/** The events alone, for a test that feeds them to something. */
export function toFixture({ events }: Pick<RunFile, 'events'>): string {
  return `${JSON.stringify(
    events.flatMap(({ event }) => (event === undefined ? [] : [event])),
    undefined,
    1,
  )}\n`
}

interface TestParts {
  readonly file: RunFile
  /** The events as a strict stream. */
  readonly strict: readonly unknown[]
  readonly start: ClientContent
  readonly end: ClientContent
  readonly lintInput: unknown
  readonly violations: readonly Pick<Violation, 'rule' | 'index'>[]
}

/** A test that holds the stream to what it is: as valid as now, and with the same messages and state at its end. */
export function toVitest({ file, strict, start, end, lintInput, violations }: TestParts): string {
  const faults = violations.map(({ rule, index }) => (index === undefined ? { rule } : { rule, index }))
  return `import { expect, it } from 'vitest'
import { createFold, type AgUiEvent } from 'millrace/protocol'
import { lintEvents } from 'millrace/testing'

const input = ${json(lintInput)}

const events: unknown[] = ${json(file.events.map(({ event, raw }) => event ?? raw))}

${strict.length === file.events.length && strict.every((event, at) => event === file.events[at]?.event) ? 'const strictEvents = events as AgUiEvent[]' : `// What a client makes of them: chunks are expanded.\nconst strictEvents = ${json(strict)} as unknown as AgUiEvent[]`}

it(${JSON.stringify(`run ${file.runId} breaks ${faults.length === 0 ? 'no rule' : 'the rules it broke'} of AG-UI`)}, () => {
  const violations = lintEvents(events, { input })
  expect(violations.map(({ rule, index }) => ({ rule, index }))).toEqual(${json(faults)})
})

it(${JSON.stringify(`run ${file.runId} leaves the client with the same messages and state`)}, () => {
  const fold = createFold(${json({ messages: start.messages, state: start.state })} as never)
  for (const event of strictEvents) fold.apply(event)
  expect(fold.messages).toEqual(${json(end.messages)})
  expect(fold.state).toEqual(${json(end.state)})
})
`
}

function json(value: unknown): string {
  return value === undefined ? 'undefined' : JSON.stringify(value, undefined, 2)
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function variableOf(header: string): string {
  return header.toUpperCase().replace(/\W+/g, '_')
}
