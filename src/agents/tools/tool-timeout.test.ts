import { expect, test } from 'vitest'
import { aborted, deferred } from '../../../test/support/run-agent.js'
import { runToEnd, toolContext } from '../../../test/support/tool-context.js'
import { manualClock } from '../../core/clock.js'
import { defineTool } from './define-tool.js'
import type { ToolContext } from '../contract.js'

const basics = { name: 'slow', description: 'Takes its time.', timeoutMs: 1000 }
const never = new Promise<never>(() => undefined)

test('a tool that never settles fails when its time is over, and its signal aborts', async () => {
  const clock = manualClock()
  let signal: AbortSignal | undefined
  const tool = defineTool(
    {
      ...basics,
      execute: (_, ctx) => {
        signal = ctx.signal
        return never
      },
    },
    { clock },
  )
  const outcome = runToEnd(tool.call({}, toolContext())).catch((error: unknown) => error)
  await clock.advance(999)
  expect(signal?.aborted).toBe(false)
  await clock.advance(1)
  const tooSlow = expect.objectContaining({
    code: 'TOOL_ERROR',
    message: "Tool 'slow' took longer than 1000 ms.",
  }) as unknown
  expect(signal?.reason).toEqual(tooSlow)
  expect(await outcome).toEqual(tooSlow)
})

test('a tool in time leaves nothing behind', async () => {
  const clock = manualClock()
  const run = new AbortController()
  let signal: AbortSignal | undefined
  const tool = defineTool(
    {
      ...basics,
      execute: (_, ctx) => {
        signal = ctx.signal
        return 'done'
      },
    },
    { clock },
  )
  const end = await runToEnd(tool.call({}, toolContext({ signal: run.signal })))
  expect(end).toEqual({ progress: [], result: 'done' })
  expect(clock.pending).toBe(0)
  run.abort()
  expect(signal?.aborted).toBe(false)
})

test('arguments that do not fit leave nothing behind either', async () => {
  const clock = manualClock()
  const parameters = { type: 'object', required: ['city'] }
  const tool = defineTool({ ...basics, parameters, execute: () => 'done' }, { clock })
  await expect(runToEnd(tool.call({}, toolContext()))).rejects.toThrow('$.city: is required')
  expect(clock.pending).toBe(0)
})

test('progress does not buy time', async () => {
  const clock = manualClock()
  const tool = defineTool(
    {
      ...basics,
      async *execute() {
        yield 'half'
        await never
      },
    },
    { clock },
  )
  const call = tool.call({}, toolContext()) as AsyncGenerator
  expect(await call.next()).toEqual({ done: false, value: 'half' })
  await clock.advance(600)
  const next = call.next().catch((error: unknown) => error)
  await clock.advance(400)
  expect(await next).toMatchObject({ code: 'TOOL_ERROR' })
})

test('a cancelled run stops the tool with its own reason, and lets it clean up', async () => {
  const run = new AbortController()
  const clock = manualClock()
  const cleaned = deferred()
  let isOver = false
  const execute = async (_: unknown, { signal }: ToolContext) => {
    await aborted(signal)
    await cleaned.promise
    throw signal.reason
  }
  const tool = defineTool({ ...basics, execute }, { clock })
  const outcome = runToEnd(tool.call({}, toolContext({ signal: run.signal }))).catch((error: unknown) => {
    isOver = true
    return error
  })
  await clock.advance(0)
  const reason = new Error('cancelled')
  run.abort(reason)
  await clock.advance(10_000)
  expect(isOver).toBe(false)
  expect(clock.pending).toBe(0)
  cleaned.resolve()
  expect(await outcome).toBe(reason)
})

test('the limited context is the live one in everything but the signal', async () => {
  let state = 'before'
  const ctx: ToolContext = {
    ...toolContext(),
    get state() {
      return state
    },
  }
  const tool = defineTool({
    ...basics,
    execute: (_, limited) => {
      state = 'after'
      return [limited.state, limited.threadId, limited.signal === ctx.signal]
    },
  })
  expect(await runToEnd(tool.call({}, ctx))).toMatchObject({ result: ['after', 'thread-1', false] })
})

test('what a stopped tool throws later bothers nobody', async () => {
  const clock = manualClock()
  let fail: (error: Error) => void = () => undefined
  const work = new Promise((_, reject) => {
    fail = reject
  })
  const tool = defineTool({ ...basics, execute: () => work }, { clock })
  const outcome = runToEnd(tool.call({}, toolContext())).catch((error: unknown) => error)
  await clock.advance(1000)
  expect(await outcome).toMatchObject({ code: 'TOOL_ERROR' })
  fail(new Error('connection reset'))
  await clock.advance(0)
})
