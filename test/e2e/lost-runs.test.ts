import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Interrupt } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { startingChildren } from './support-child.js'
import { historyOf, inputOf, temporaryFolder, user } from './support-server.js'
import { openStream, runWhole, textIn } from './support-stream.js'

const startChild = startingChildren('serve-deeds.mjs')
type Mode = 'in-tool' | 'after-result' | 'before-tool' | 'nowhere'
type Runtime = 'kit' | 'team' | 'adk' | 'graph'
const runtimes: readonly Runtime[] = ['kit', 'adk', 'graph']

/** A server that can be killed and started again, and what its tools have begun. */
function deedsRig(runtime: Runtime) {
  const folder = temporaryFolder()
  const file = join(folder, 'deeds.txt')
  const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])
  return {
    start: (mode: Mode, leaseMs = 15_000) => startChild(folder, runtime, mode, String(leaseMs)),
    /** The calls that tools have begun to work on. */
    deeds: () => lines().filter((line) => !line.startsWith('done')),
  }
}

const yes: Record<Runtime, unknown> = {
  kit: { approved: true },
  team: { approved: true },
  adk: { approved: true },
  graph: { type: 'approve' },
}

function interruptIn(events: readonly AgUiEvent[]): Interrupt {
  const last = events.at(-1)
  const [interrupt] =
    last?.type === 'RUN_FINISHED' && last.outcome?.type === 'interrupt' ? last.outcome.interrupts : []
  if (!interrupt) throw new Error(`There is no interrupt: ${JSON.stringify(last)}`)
  return interrupt
}

/** Asks for a payment and returns the body that approves it. */
async function askToPay(url: string, runtime: Runtime) {
  const asked = await runWhole(url, inputOf({ runId: 'run-0', messages: [user('u1', 'pay')] }))
  const { id, toolCallId } = interruptIn(asked)
  const resume = [{ interruptId: id, status: 'resolved', payload: yes[runtime] }]
  return { toolCallId, body: inputOf({ runId: 'run-1', messages: await historyOf(url), resume }) }
}

async function connect(url: string, lastId?: string) {
  const headers = lastId === undefined ? {} : { 'last-event-id': lastId }
  const body = { threadId: 'thread-1', protocolVersion: '1.0' }
  const stream = await openStream(`${url}/connect`, { body, headers })
  await stream.whole()
  return stream.events
}

const isResult = ({ type }: AgUiEvent): boolean => type === 'TOOL_CALL_RESULT'
const success = { type: 'RUN_FINISHED', outcome: { type: 'success' } }

describe.each(runtimes)('a process of an agent of %s that is killed', (runtime) => {
  it('after a result was seen does not do the approved call again', async () => {
    const { start, deeds } = deedsRig(runtime)
    const first = await start('after-result')
    const { body, toolCallId } = await askToPay(first.url, runtime)
    const stream = await openStream(`${first.url}/run`, { body })
    await stream.until(isResult)
    first.signal('SIGKILL')
    await Promise.all([first.ended, stream.over()])

    const { url } = await start('nowhere')
    const rest = await connect(url, stream.lastId)
    assertValidStream([...stream.events, ...rest], { input: body })
    expect(rest.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'RUN_LOST' })
    const stored = await historyOf(url)
    expect(stored.filter(({ role }) => role === 'tool')).toMatchObject([{ toolCallId }])
    expect(JSON.stringify(stored)).toContain('pay done')
    expect(JSON.stringify(await connect(url))).not.toContain('interrupt')

    // The client sends its answer again: the agent goes on from the result.
    const again = await runWhole(url, { ...body, runId: 'run-2', messages: stored })
    expect(again.at(-1)).toMatchObject(success)
    expect(textIn(again)).toBe('All done.')
    expect(deeds()).toEqual([`pay ${String(toolCallId)}`])
    const roles = (await historyOf(url)).map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant'])
  }, 60_000)

  it('while an approved call is at work does not begin it again', async () => {
    const { start, deeds } = deedsRig(runtime)
    const first = await start('in-tool')
    const { body, toolCallId } = await askToPay(first.url, runtime)
    const stream = await openStream(`${first.url}/run`, { body })
    await expect.poll(deeds).toEqual([`pay ${String(toolCallId)}`])
    first.signal('SIGKILL')
    await Promise.all([first.ended, stream.over()])

    const { url } = await start('nowhere')
    const rest = await connect(url, stream.lastId)
    assertValidStream([...stream.events, ...rest], { input: body })
    expect(rest.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'RUN_LOST' })
    const messages = await historyOf(url)
    const lost = { role: 'tool', toolCallId, content: expect.stringContaining('lost') as string }
    expect(messages).toMatchObject([{ id: 'u1' }, { role: 'assistant' }, lost])
    const again = await runWhole(url, { ...body, runId: 'run-2', messages })
    expect(again.at(-1)).toMatchObject(success)
    expect(textIn(again)).toBe('It may have been done.')
    expect(deeds()).toHaveLength(1)
  }, 60_000)

  it('while a call is at work goes on from there when the message is sent again', async () => {
    const { start, deeds } = deedsRig(runtime)
    const first = await start('in-tool')
    const body = inputOf({ messages: [user('u1', 'look')] })
    const stream = await openStream(`${first.url}/run`, { body })
    await expect.poll(() => deeds().length).toBe(1)
    await stream.until(({ type }) => type === 'TOOL_CALL_END')
    first.signal('SIGKILL')
    await Promise.all([first.ended, stream.over()])

    const { url } = await start('nowhere')
    const messages = await historyOf(url)
    const again = await runWhole(url, inputOf({ runId: 'run-2', messages }))
    expect(again.at(-1)).toMatchObject(success)
    // The last events may have been lost with the process: then the model calls the tool anew.
    const isKnown = messages.some(({ role }) => role === 'tool')
    expect(textIn(again)).toBe(isKnown ? 'It may have been done.' : 'All done.')
    const next = [...(await historyOf(url)), user('u2', 'hello')]
    const events = await runWhole(url, inputOf({ runId: 'run-3', messages: next }))
    expect(textIn(events)).toBe('You said: hello')
  }, 60_000)
})

describe.each(runtimes)('a process of an agent of %s that was suspended', (runtime) => {
  it('begins no tool after it has lost its thread', async () => {
    const { start, deeds } = deedsRig(runtime)
    const leaseMs = 400
    const first = await start('before-tool', leaseMs)
    const stream = await openStream(`${first.url}/run`, { body: inputOf({ messages: [user('u1', 'look')] }) })
    await stream.until(({ type }) => type === 'RUN_STARTED')
    first.signal('SIGSTOP')
    const second = await start('nowhere')
    // Taken over when the lease has run out.
    await expect
      .poll(async () => JSON.stringify(await connect(second.url)), { timeout: 20_000 })
      .toContain('RUN_FINISHED')
    first.goOn()
    first.signal('SIGCONT')
    await stream.over()
    expect(deeds()).toEqual([])
    const messages = [...(await historyOf(second.url)), user('u2', 'hello')]
    const events = await runWhole(second.url, inputOf({ runId: 'run-2', messages }))
    expect(textIn(events)).toContain('hello')
    expect(deeds()).toEqual([])
  }, 60_000)
})

/** The same numbers in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function openInterrupts(events: readonly AgUiEvent[]): readonly Interrupt[] {
  const last = events.at(-1)
  return last?.type === 'RUN_FINISHED' && last.outcome?.type === 'interrupt' ? last.outcome.interrupts : []
}

const resultsIn = (events: readonly AgUiEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'TOOL_CALL_RESULT' ? [event.toolCallId] : []))

describe.each([...runtimes, 'team'] as const)(
  'processes of an agent of %s that are killed anywhere',
  (runtime) => {
    it('whatever is killed when, no call is done twice, and no result that was seen is lost', async () => {
      const { start, deeds } = deedsRig(runtime)
      const random = seeded(1118)
      const seen = new Set<string>()
      let child = await start('nowhere')
      for (let round = 0; round < 3; round++) {
        let body = inputOf({
          ...{
            runId: `run-${round}`,
            messages: [...(await knownHistory(child.url, round)), user(`u${round}`, 'pay')],
          },
        })
        // Until the turn is over; the process is killed twice on the way.
        for (let step = 0; ; step++) {
          const stream = await openStream(`${child.url}/run`, { body })
          if (step < 2) {
            const moment = 1 + random(6)
            await stream.until(() => stream.received.length >= moment).catch(() => undefined)
            child.signal('SIGKILL')
            await Promise.all([child.ended, stream.over()])
            child = await start('nowhere')
          } else await stream.whole()
          for (const id of resultsIn(stream.events)) seen.add(id)
          const events = step < 2 ? await connect(child.url) : stream.events
          const resume = openInterrupts(events).map(({ id }) => ({
            ...{ interruptId: id, status: 'resolved', payload: yes[runtime] },
          }))
          if (step >= 2 && resume.length === 0) break
          expect(step).toBeLessThan(8)
          const messages = await historyOf(child.url)
          body = inputOf({ runId: `run-${round}-${step}`, messages, resume })
        }
      }
      expect(new Set(deeds()).size).toBe(deeds().length)
      expect(deeds().length).toBeGreaterThan(0)
      const kept = (await historyOf(child.url)).flatMap(({ toolCallId = '' }) => toolCallId)
      expect(kept).toEqual(expect.arrayContaining([...seen]))
      expect(new Set(kept.filter(Boolean)).size).toBe(kept.filter(Boolean).length)
    }, 120_000)
  },
)

/** The messages of the thread, which does not exist before the first round. */
async function knownHistory(url: string, round: number) {
  return round === 0 ? [] : historyOf(url)
}
