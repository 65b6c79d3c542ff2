import { expect, test } from 'vitest'
import { aborted, deferred, play, resultsIn } from '../../../test/support/run-agent.js'
import { manualClock } from '../../core/clock.js'
import { scriptedModel } from '../../models/index.js'
import type { Tool, ToolContext } from '../contract.js'
import { run } from '../run/run.js'
import { defineTool } from '../tools/define-tool.js'
import { defineAgent } from './chat-agent.js'

const basics = { name: 'slow', description: 'Takes its time.', timeoutMs: 1000 }
const tooSlow = "call-1: Error: Tool 'slow' took longer than 1000 ms."
const never = new Promise<never>(() => undefined)

function agentWith(tool: Tool) {
  const model = scriptedModel([[{ toolCall: { id: 'call-1', name: 'slow' } }], 'Done.'])
  return defineAgent({ name: 'a', model, tools: [tool] })
}

test('a tool that never settles fails when its time is over, and its signal aborts', async () => {
  const clock = manualClock()
  let signal: AbortSignal | undefined
  const execute = (_: unknown, ctx: ToolContext) => {
    signal = ctx.signal
    return never
  }
  const played = play(agentWith(defineTool({ ...basics, execute })), 'Go.', { clock })
  await clock.advance(999)
  expect(signal?.aborted).toBe(false)
  await clock.advance(1)
  expect(signal?.reason).toMatchObject({
    code: 'TOOL_ERROR',
    message: "Tool 'slow' took longer than 1000 ms.",
  })
  expect(resultsIn((await played).events)).toEqual([tooSlow])
})

test.each<[string, number | undefined, number | undefined, string]>([
  ["the run's limit holds for a tool without one", undefined, 1000, tooSlow],
  ["a tool's own limit comes before that of the run", 1000, 10, tooSlow],
  ['a tool may have no limit', Infinity, 10, 'call-1: late'],
])('%s', async (_, timeoutMs, toolTimeoutMs, result) => {
  const clock = manualClock()
  const gate = deferred()
  const tool: Tool = {
    ...{ name: 'slow', description: 'Written by hand.', parameters: { type: 'object' } },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    call: () => gate.promise.then(() => 'late'),
  }
  const played = play(agentWith(tool), 'Go.', { clock, ...(toolTimeoutMs && { toolTimeoutMs }) })
  await clock.advance(1000)
  gate.resolve()
  expect(resultsIn((await played).events)).toEqual([result])
})

test('a tool in time leaves nothing behind', async () => {
  const clock = manualClock()
  const controller = new AbortController()
  let signal: AbortSignal | undefined
  const execute = (_: unknown, ctx: ToolContext) => {
    signal = ctx.signal
    return 'done'
  }
  const agent = agentWith(defineTool({ ...basics, execute }))
  const { events } = await play(agent, 'Go.', { clock, signal: controller.signal })
  expect(resultsIn(events)).toEqual(['call-1: done'])
  expect(clock.pending).toBe(0)
  controller.abort()
  expect(signal?.aborted).toBe(false)
})

test('arguments that do not fit leave nothing behind either', async () => {
  const clock = manualClock()
  const parameters = { type: 'object', required: ['city'] }
  const agent = agentWith(defineTool({ ...basics, parameters, execute: () => 'done' }))
  const { events } = await play(agent, 'Go.', { clock })
  expect(resultsIn(events)).toEqual([expect.stringContaining('$.city: is required')])
  expect(clock.pending).toBe(0)
})

test('progress does not buy time', async () => {
  const clock = manualClock()
  const agent = agentWith(
    defineTool({
      ...basics,
      async *execute() {
        yield 'half'
        await never
      },
    }),
  )
  const running = run(agent, 'Go.', { clock })
  const seen: string[] = []
  const read = (async () => {
    for await (const event of running) {
      seen.push(event.type)
      if (event.type === 'TOOL_CALL_RESULT') return `call-1: ${JSON.stringify(event.content)}`
    }
    return undefined
  })()
  await clock.advance(600)
  expect(seen).toContain('ACTIVITY_SNAPSHOT')
  await clock.advance(400)
  expect(await read).toBe(`call-1: "${tooSlow.slice(8)}"`)
})

test('a cancelled run stops the tool with its own reason, and lets it clean up', async () => {
  const clock = manualClock()
  const cleaned = deferred()
  let reason: unknown
  let isOver = false
  const execute = async (_: unknown, { signal }: ToolContext) => {
    await aborted(signal)
    reason = signal.reason
    await cleaned.promise
    throw signal.reason
  }
  const controller = new AbortController()
  const { result } = run(agentWith(defineTool({ ...basics, execute })), 'Go.', {
    ...{ clock, signal: controller.signal, graceMs: 20_000 },
  })
  void result.then(() => (isOver = true))
  await clock.advance(0)
  const cancelled = new DOMException('cancelled', 'AbortError')
  controller.abort(cancelled)
  await clock.advance(10_000)
  expect(reason).toBe(cancelled)
  expect(isOver).toBe(false)
  cleaned.resolve()
  expect(await result).toMatchObject({ type: 'cancelled' })
  expect(clock.pending).toBe(0)
})

test('the limited context is the live one in everything but the signal', async () => {
  let outer: ToolContext | undefined
  const execute = (_: unknown, limited: ToolContext) => {
    limited.setState({ at: 'after' })
    return [limited.state, limited.toolCallId, limited.signal === outer?.signal]
  }
  const model = scriptedModel([[{ toolCall: { id: 'call-1', name: 'slow' } }], 'Done.'])
  const middleware = {
    tool: (call: never, next: (call: never) => Promise<unknown>, ctx: ToolContext) => {
      outer = ctx
      return next(call)
    },
  }
  const tools = [defineTool({ ...basics, execute })]
  const agent = defineAgent({ name: 'a', model, tools, middlewares: [middleware] })
  const { events } = await play(agent, 'Go.')
  expect(resultsIn(events)).toEqual(['call-1: [{"at":"after"},"call-1",false]'])
})

test('a late error of a timed-out tool is ignored', async () => {
  const clock = manualClock()
  let fail: (error: Error) => void = () => undefined
  const work = new Promise((_, reject) => {
    fail = reject
  })
  const played = play(agentWith(defineTool({ ...basics, execute: () => work })), 'Go.', { clock })
  await clock.advance(1000)
  expect(resultsIn((await played).events)).toEqual([tooSlow])
  fail(new Error('connection reset'))
  await clock.advance(0)
})
