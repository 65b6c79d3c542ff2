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
type Mode = 'in-tool' | 'after-result' | 'held' | 'nowhere'
type Runtime = 'kit' | 'team' | 'adk' | 'graph' | 'graphteam'
const runtimes: readonly Runtime[] = ['kit', 'adk', 'graph']

/** A server that can be killed and started again, and what its tools have begun. */
function deedsRig(runtime: Runtime) {
  const folder = temporaryFolder()
  const file = join(folder, 'deeds.txt')
  const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])
  return {
    start: (mode: Mode, leaseMs = 15_000) => startChild(folder, runtime, mode, String(leaseMs)),
    /** What tools, models and nodes have begun, and what tools have done. */
    lines,
    /** The calls that tools have begun to work on. */
    deeds: () => lines().filter((line) => /^(pay|look) /.test(line)),
  }
}

const yes: Record<Runtime, unknown> = {
  kit: { approved: true },
  team: { approved: true },
  adk: { approved: true },
  graph: { type: 'approve' },
  graphteam: { type: 'approve' },
}

function interruptIn(events: readonly AgUiEvent[]): Interrupt {
  const [interrupt] = interruptsIn(events)
  if (!interrupt) throw new Error(`There is no interrupt: ${JSON.stringify(events.at(-1))}`)
  return interrupt
}

/** Asks for a payment and returns the body that approves it. */
async function askToPay(url: string, runtime: Runtime) {
  const asked = await runWhole(url, inputOf({ runId: 'run-0', messages: [user('u1', 'pay')] }))
  const { id, toolCallId } = interruptIn(asked)
  const resume = [{ interruptId: id, status: 'resolved', payload: yes[runtime] }]
  return { toolCallId, body: inputOf({ runId: 'run-1', messages: await historyOf(url), resume }) }
}

interface Place {
  readonly threadId?: string
  readonly lastId?: string | undefined
}

async function connect(url: string, { threadId = 'thread-1', lastId }: Place = {}) {
  const headers = lastId === undefined ? {} : { 'last-event-id': lastId }
  const body = { threadId, protocolVersion: '1.0' }
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
    const rest = await connect(url, { lastId: stream.lastId })
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
    const rest = await connect(url, { lastId: stream.lastId })
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
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(textIn(again)).toBe('It may have been done.')
    expect(deeds()).toHaveLength(1)
    const next = [...(await historyOf(url)), user('u2', 'hello')]
    const events = await runWhole(url, inputOf({ runId: 'run-3', messages: next }))
    expect(textIn(events)).toBe('You said: hello')
  }, 60_000)
})

function interruptsIn(events: readonly AgUiEvent[]): readonly Interrupt[] {
  const last = events.at(-1)
  return last?.type === 'RUN_FINISHED' && last.outcome?.type === 'interrupt' ? last.outcome.interrupts : []
}

describe('a process of a graph of two agents that is killed while one of them is at work', () => {
  it('does not do the call of one agent again when the other is answered', async () => {
    const { start, deeds } = deedsRig('graphteam')
    const first = await start('in-tool')
    const asked = interruptsIn(await runWhole(first.url, inputOf({ messages: [user('u1', 'pay')] })))
    expect(asked.map(({ toolCallId }) => toolCallId).toSorted()).toEqual(['pay-ann-1', 'pay-bob-1'])
    const bodyFor = async (url: string, runId: string, id: string | undefined) => {
      const resume = [{ interruptId: id, status: 'resolved', payload: yes.graphteam }]
      return inputOf({ runId, messages: await historyOf(url), resume })
    }
    const body = await bodyFor(first.url, 'run-2', asked[0]?.id)
    const stream = await openStream(`${first.url}/run`, { body })
    const begun = [`pay ${String(asked[0]?.toolCallId)}`]
    await expect.poll(deeds, { timeout: 30_000 }).toEqual(begun)
    first.signal('SIGKILL')
    await Promise.all([first.ended, stream.over()])

    const { url } = await start('nowhere')
    const open = interruptsIn(await connect(url))
    expect(open).toMatchObject([{ toolCallId: asked[1]?.toolCallId }])
    const events = await runWhole(url, await bodyFor(url, 'run-3', open[0]?.id))
    expect(events.at(-1)).toMatchObject(success)
    expect(deeds()).toEqual([...begun, `pay ${String(asked[1]?.toolCallId)}`])
    const results = (await historyOf(url)).filter(({ role }) => role === 'tool')
    expect(results.map(({ toolCallId }) => toolCallId).toSorted()).toEqual(['pay-ann-1', 'pay-bob-1'])
  }, 60_000)
})

/** The client asks in two threads: in one a tool is at work, in the other a model. */
async function askTwice(url: string) {
  const [atTool, atModel] = [
    inputOf({ threadId: 'thread-1', messages: [user('u1', 'look')] }),
    inputOf({ threadId: 'thread-2', runId: 'run-2', messages: [user('u2', 'later look')] }),
  ]
  return [await openStream(`${url}/run`, { body: atTool }), await openStream(`${url}/run`, { body: atModel })]
}

/** Resolves when a server has the thread as that of no run. */
async function takenOver(url: string, threadId: string): Promise<void> {
  const ended = async () => (await connect(url, { threadId })).at(-1)?.type
  await expect.poll(ended, { timeout: 30_000 }).toMatch(/RUN_FINISHED|RUN_ERROR/)
}

describe.each([...runtimes, 'team', 'graphteam'] as const)(
  'a process of an agent of %s that was suspended',
  (runtime) => {
    it('begins no tool, model call or node after it has lost its threads', async () => {
      const { start, lines, deeds } = deedsRig(runtime)
      const leaseMs = 1000
      const [first, second] = await Promise.all([start('held', leaseMs), start('nowhere', leaseMs)])
      const streams = await askTwice(first.url)
      const agents = runtime.includes('team') ? 2 : 1
      const models = () => lines().filter((line) => line.startsWith('model')).length
      await expect.poll(() => [deeds().length, models()], { timeout: 30_000 }).toEqual([agents, 2 * agents])
      first.signal('SIGSTOP')
      await Promise.all(['thread-1', 'thread-2'].map((threadId) => takenOver(second.url, threadId)))
      const before = lines()
      first.goOn()
      first.signal('SIGCONT')
      await Promise.all(streams.map((stream) => stream.over()))
      // What was at work may end; nothing begins.
      expect(lines().filter((line) => !line.startsWith('done'))).toEqual(before)
      const messages = [...(await historyOf(second.url)), user('u3', 'hello')]
      const events = await runWhole(second.url, inputOf({ runId: 'run-3', messages }))
      expect(textIn(events)).toContain('hello')
      expect(deeds()).toHaveLength(agents)
    }, 90_000)
  },
)
