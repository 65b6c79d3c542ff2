import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Interrupt } from '@ag-ui/core'
import { expect, it } from 'vitest'
import { defineAgent } from '../../src/agents/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { ofType } from '../support/run-agent.js'
import { startingChildren } from './support-child.js'
import { historyOf, inputOf, serving, temporaryFolder, user } from './support-server.js'
import { openStream } from './support-stream.js'

const start = startingChildren('mixed.mjs')

/** An AG-UI agent elsewhere, and how often its model was asked. */
async function elsewhere() {
  const model = scriptedModel(() => 'Remote has looked.')
  const { url } = await serving({ agents: [defineAgent({ name: 'far', model })] })
  return { url: `${url}/agents/far/run`, model }
}

async function runWhole(url: string, body: Record<string, unknown>): Promise<AgUiEvent[]> {
  const stream = await openStream(`${url}/run`, { body })
  await stream.whole()
  assertValidStream(stream.events, { input: body })
  return stream.events
}

function questionsIn(events: readonly AgUiEvent[]): readonly Interrupt[] {
  const end = events.at(-1)
  if (end?.type !== 'RUN_FINISHED' || end.outcome?.type !== 'interrupt') throw new Error(JSON.stringify(end))
  return end.outcome.interrupts
}

function answersTo(questions: readonly Interrupt[]) {
  return questions.map(({ id, toolCallId }) => ({
    interruptId: id,
    status: 'resolved',
    payload: toolCallId === undefined ? 'by sea' : { confirmed: true },
  }))
}

function askedIn(folder: string): string[] {
  return readFileSync(join(folder, 'asked.log'), 'utf8').trim().split('\n')
}

const before = ['lead sends', 'kit', 'adk 0', 'graph prepare']
const final = [
  '[kit] said: Kit has counted.',
  expect.stringMatching(/^\[adk\] called tool `book`/) as string,
  expect.stringMatching(/table 4/) as string,
  expect.stringMatching(/^\[adk\] said: Adk: .*table 4/) as string,
  '[graph] said: Graph: "by sea"',
  '[remote] said: Remote has looked.',
]

it.each([
  { how: 'both at once', parts: [[0, 1]] },
  { how: 'one after the other', parts: [[0], [1]] },
  { how: 'the other way round', parts: [[1], [0]] },
])(
  'all runtimes under one supervisor: two ask, the process is killed, answered $how',
  async ({ parts }) => {
    const folder = temporaryFolder()
    const remote = await elsewhere()
    const first = await start(folder, remote.url)
    const events = await runWhole(first.url, inputOf({ messages: [user('u1', 'Go.')] }))
    const questions = questionsIn(events)
    expect(questions).toHaveLength(2)
    expect(ofType(events, 'SUBAGENT_STARTED').map(({ name }) => name)).toEqual(
      expect.arrayContaining(['crew', 'kit', 'adk', 'graph', 'remote']),
    )
    expect(askedIn(folder).sort()).toEqual([...before].sort())
    first.signal('SIGKILL')
    await first.ended

    let last: AgUiEvent[] = []
    for (const [round, part] of parts.entries()) {
      const child = await start(folder, remote.url)
      const messages = await historyOf(child.url)
      const resume = answersTo(questions.filter((_, index) => part.includes(index)))
      last = await runWhole(child.url, inputOf({ runId: `run-${round + 2}`, messages, resume }))
      if (round < parts.length - 1) {
        const open = questionsIn(last).map(({ id }) => id)
        expect(open).toEqual(questions.flatMap(({ id }, index) => (part.includes(index) ? [] : [id])))
        child.signal('SIGKILL')
        await child.ended
      }
    }
    expect(last.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    const text = ofType(last, 'TEXT_MESSAGE_CONTENT').filter(
      ({ subagentRunId }) => subagentRunId === undefined,
    )
    expect(
      text
        .map(({ delta }) => delta)
        .join('')
        .split('\n'),
    ).toEqual(final)
    expect(askedIn(folder).sort()).toEqual([...before, 'adk 1', 'booked', 'graph ship', 'lead hears'].sort())
    expect(remote.model.requests).toHaveLength(1)
  },
  120_000,
)
