import { expect, it } from 'vitest'
import { lintEvents } from '../../testing/index.js'
import type { AgentEvent, AgUiEvent, RunStream } from '../contract.js'
import { createRunStream, resumeRunStream } from './run-stream.js'

const ids = { threadId: 't', runId: 'r' }

function surface(messageId: string, content: Record<string, unknown>, subagentRunId?: string): AgentEvent {
  const tag = subagentRunId === undefined ? {} : { subagentRunId }
  return {
    type: 'ACTIVITY_SNAPSHOT',
    messageId,
    activityType: 'a2ui-surface',
    content,
    replace: true,
    ...tag,
  }
}

const written: readonly AgentEvent[] = [
  surface('done', { status: 'building' }),
  surface('done', { a2ui_operations: [] }),
  surface('left', { status: 'building' }),
  { type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'helper' },
  surface('below', { status: 'retrying', attempt: 2 }, 's'),
  { type: 'ACTIVITY_SNAPSHOT', messageId: 'other', activityType: 'build', content: { status: 'building' } },
]

const statuses = [
  ['done', undefined],
  ['left', 'failed'],
  ['below', 'failed'],
  ['other', 'building'],
]

function statusesIn({ fold }: RunStream): unknown[] {
  return fold.messages.map((message): [string, unknown] => [
    message.id,
    message.role === 'activity' && message.content.status,
  ])
}

it.each<[string, (stream: RunStream) => void]>([
  ['succeeds', (stream) => stream.finish({ type: 'success' })],
  ['is cancelled', (stream) => stream.finish({ type: 'cancelled' })],
  ['fails', (stream) => stream.fail(new Error('broken'))],
])('leaves no surface of A2UI unfinished when a run %s', (_, end) => {
  const events: AgUiEvent[] = []
  const stream = createRunStream({ ...ids, emit: (event) => events.push(event) })
  for (const event of written) stream.write(event)
  end(stream)
  expect(statusesIn(stream)).toEqual(statuses)
  expect(lintEvents(events)).toEqual([])
})

it('leaves none when the process has died', () => {
  const logged: AgUiEvent[] = []
  const died = createRunStream({ ...ids, emit: (event) => logged.push(event) })
  for (const event of written) died.write(event)
  const events = logged.slice(1) as AgentEvent[]
  const more: AgUiEvent[] = []
  const onUnreadable = (error: unknown): never => {
    throw error
  }
  const stream = resumeRunStream({ ...ids, events, onUnreadable, emit: (event) => more.push(event) })
  stream.fail(new Error('lost'))
  expect(statusesIn(stream)).toEqual(statuses)
  expect(lintEvents([...logged, ...more])).toEqual([])
})
