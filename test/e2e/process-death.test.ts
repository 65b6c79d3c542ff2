import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Checkpoint } from '../../src/agents/interrupts/checkpoint.js'
import type { AgUiEvent, EventOf } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { resultsIn } from '../support/run-agent.js'
import { currentBuild } from './support-build.js'

const script = join(import.meta.dirname, 'support-process-death.mjs')
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-death-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** One process: it is killed as soon as it has told of its questions, or else it must end by itself. */
async function live(answers: Readonly<Record<string, unknown>>) {
  const child = spawn(process.execPath, [script, currentBuild(), folder, JSON.stringify(answers)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const events: AgUiEvent[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as AgUiEvent
    events.push(event)
    if (event.type === 'RUN_FINISHED' && event.outcome?.type === 'interrupt') child.kill('SIGKILL')
  }
  const [code, signal] = await exit
  return { events, code, signal }
}

function inputOf(events: readonly AgUiEvent[], rest: object): unknown {
  const { threadId, runId } = events[0] as EventOf<'RUN_STARTED'>
  return { protocolVersion: '1.0', threadId, runId, messages: [], state: {}, ...rest }
}

function questionsOf(events: readonly AgUiEvent[]): Record<string, string> {
  const last = events.at(-1)
  if (last?.type !== 'RUN_FINISHED' || last.outcome?.type !== 'interrupt') return {}
  return Object.fromEntries(last.outcome.interrupts.map(({ message, id }) => [String(message), id]))
}

const saved = () => JSON.parse(readFileSync(join(folder, 'checkpoint.json'), 'utf8')) as Checkpoint
const deeds = () => readFileSync(join(folder, 'deeds.txt'), 'utf8').trim().split('\n')

test('a run survives the death of its process at each of its questions', async () => {
  const first = await live({})
  expect(first.signal).toBe('SIGKILL')
  assertValidStream(first.events, { input: inputOf(first.events, {}) })
  const questions = questionsOf(first.events)
  expect(Object.keys(questions)).toEqual(['pay?', 'sign?'])
  expect(resultsIn(first.events)).toEqual(['look-1: 100'])
  expect(deeds()).toEqual(['looked up'])

  const before = saved()
  const second = await live({ [String(questions['sign?'])]: 'yes' })
  expect(second.signal).toBe('SIGKILL')
  assertValidStream(second.events, { input: inputOf(second.events, { messages: before.messages }) })
  expect(questionsOf(second.events)).toEqual({ 'pay?': questions['pay?'] })
  expect(resultsIn(second.events)).toEqual(['sign-1: sign done', 'clerk-1: Signed.'])

  const { messages } = saved()
  const third = await live({ [String(questions['pay?'])]: { approved: true } })
  expect([third.code, third.signal]).toEqual([0, null])
  assertValidStream(third.events, { input: inputOf(third.events, { messages }) })
  expect(resultsIn(third.events)).toEqual(['pay-1: pay done'])
  expect(third.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  expect(saved()).toMatchObject({ openInterrupts: [], answered: [questions['sign?'], questions['pay?']] })
  expect(saved().messages.at(-1)).toMatchObject({ role: 'assistant', content: 'All paid.' })
  expect(deeds()).toEqual([
    'looked up',
    'sign: {"status":"resolved","payload":"yes"}, kept {"asked":"sign"}',
    'pay: {"status":"resolved","payload":{"approved":true}}, kept {"asked":"pay"}',
  ])
})
