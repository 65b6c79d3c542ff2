import { expect } from 'vitest'
import { decodeSse, type AgUiEvent } from '../../src/protocol/index.js'
import type { Identity } from '../../src/server/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { ask, inputOf, user } from './support-server.js'

/** The users by their tokens. */
const people: Readonly<Record<string, Identity>> = {
  ann: { user: 'ann' },
  bob: { user: 'bob' },
  eve: { user: 'eve', app: 'other', isOperator: true },
  olga: { user: 'olga', isOperator: true },
}

export function identify(request: Request): Identity | undefined {
  return people[request.headers.get('authorization')?.slice('Bearer '.length) ?? '']
}

export function as(name: string, asUser?: string): Record<string, string> {
  return { authorization: `Bearer ${name}`, ...(asUser === undefined ? {} : { 'millrace-as-user': asUser }) }
}

interface RunRequest {
  readonly agent: string
  readonly threadId?: string
  readonly runId?: string
  readonly text?: string
  readonly headers?: Record<string, string>
  readonly fields?: object
}

/** Runs an agent to the end and returns the events. */
export async function runTo(
  url: string,
  { agent, threadId = 't', runId = 'r', text = 'Go.', headers = {}, fields = {} }: RunRequest,
): Promise<AgUiEvent[]> {
  const response = await fetch(`${url}/agents/${agent}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(inputOf({ threadId, runId, messages: [user(`u-${runId}`, text)], ...fields })),
  })
  expect(response.status).toBe(200)
  const events: AgUiEvent[] = []
  if (response.body)
    for await (const frame of decodeSse(response.body))
      if (frame.kind === 'event') events.push(frame.event as AgUiEvent)
  assertValidStream(events)
  return events
}

export interface RunFileOfTest {
  readonly format: string
  readonly version: number
  readonly status: string
  readonly user: string
  readonly startedAt: number
  readonly endedAt?: number
  readonly input?: { readonly messages: readonly { readonly content: unknown }[] }
  readonly start: { readonly messages: readonly { readonly id: string }[]; readonly state: unknown }
  readonly events: readonly { readonly seq: number; readonly at?: number; readonly event: AgUiEvent }[]
  readonly isCut?: boolean
  readonly requests: readonly Readonly<Record<string, unknown>>[]
  readonly changes: readonly Readonly<Record<string, unknown>>[]
}

export async function runFile(
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<RunFileOfTest> {
  const { status, body } = await ask(`${url}/console/api/runs/${path}`, { headers })
  expect(status).toBe(200)
  return body as RunFileOfTest
}
