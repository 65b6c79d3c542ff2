import type { Message } from '@ag-ui/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  aborted,
  createClient,
  play,
  deferred,
  resultsIn,
  settled,
  linted,
} from '../../../test/support/run-agent.js'
import { manualClock } from '../../core/clock.js'
import { scriptedModel, type Script } from '../../models/index.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { defineAgent, type AgentOptions } from '../chat/chat-agent.js'
import { sequential } from '../workflows/sequential.js'
import { defineTool } from '../tools/define-tool.js'
import { run, type RunOptions } from './run.js'
import type { Agent, Tool, ToolContext } from '../contract.js'

const call = (id: string, name: string) => ({ toolCall: { id, name } })
const messages: Message[] = [{ id: 'u1', role: 'user', content: 'Go.' }]

function toolOf(name: string, execute: (ctx: ToolContext) => unknown): Tool {
  return defineTool({ name, description: 'A tool.', execute: (_args, ctx) => execute(ctx) })
}

/** Starts a run and collects what a client gets. `ended` lints it and gives the outcome. */
function start(script: Script, tools: readonly Tool[] = [], options: RunOptions = {}) {
  const model = scriptedModel(script)
  const agent = defineAgent({ name: 'a', model, tools, retry: { attempts: 5, initialDelayMs: 1000 } })
  const running = run(agent, messages, options)
  const events: AgUiEvent[] = []
  const seen = (async () => {
    for await (const event of linted(running, messages)) events.push(event)
  })()
  const ended = async () => {
    await seen
    return await running.result
  }
  return { running, events, model, ended }
}

const rejections: unknown[] = []
const onRejection = (error: unknown): void => void rejections.push(error)
beforeEach(() => void process.on('unhandledRejection', onRejection))
afterEach(async () => {
  await settled()
  process.off('unhandledRejection', onRejection)
  expect(rejections.splice(0)).toEqual([])
})

describe('a run cancelled at once', () => {
  test('aborts the model, and the text that was seen stays, marked', async () => {
    const begun = deferred()
    const log: string[] = []
    const { running, ended, events } = start(({ signal }) => {
      signal.addEventListener('abort', () => log.push('model aborted'))
      return [
        { reasoning: 'Hm.' },
        'Half of ',
        {
          wait: (signal) => {
            begun.resolve()
            return aborted(signal)
          },
        },
        'it.',
      ]
    })
    await begun.promise
    await settled()
    expect(running.cancel()).toBe(true)
    const outcome = await ended()
    expect(outcome.type).toBe('cancelled')
    expect(log).toEqual(['model aborted'])
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
    expect(outcome.messages.slice(-2)).toMatchObject([
      { role: 'reasoning', content: 'Hm.' },
      { role: 'assistant', content: 'Half of ', metadata: { millrace: { cutOff: true } } },
    ])
    expect(outcome.messages.at(-2)).not.toHaveProperty('metadata')
  })

  test('aborts its tools', async () => {
    const begun = deferred()
    const log: string[] = []
    const slow = toolOf('slow', async ({ signal }) => {
      begun.resolve()
      await aborted(signal)
      log.push('tool aborted')
      signal.throwIfAborted()
    })
    const { running, ended, events } = start([[call('c1', 'slow')]], [slow])
    await begun.promise
    running.cancel()
    expect((await ended()).type).toBe('cancelled')
    expect(log).toEqual(['tool aborted'])
    expect(resultsIn(events)).toEqual([])
  })

  test('does not wait longer than its grace for a tool that does not listen', async () => {
    const clock = manualClock()
    const begun = deferred()
    const deaf = toolOf('deaf', () => {
      begun.resolve()
      return new Promise(() => undefined)
    })
    const { running, ended } = start([[call('c1', 'deaf')]], [deaf], { clock, graceMs: 50 })
    await begun.promise
    running.cancel()
    await clock.advance(49)
    let isOver = false
    void running.result.then(() => (isOver = true))
    await settled()
    expect(isOver).toBe(false)
    await clock.advance(1)
    expect((await ended()).type).toBe('cancelled')
  })

  test('gives its tools all of its grace to clean up', async () => {
    const clock = manualClock()
    const begun = deferred()
    const cleaned = deferred()
    const log: string[] = []
    const tidy = toolOf('tidy', async ({ signal }) => {
      begun.resolve()
      await aborted(signal)
      await cleaned.promise
      log.push('clean')
    })
    const { running, ended } = start([[call('c1', 'tidy')]], [tidy], { clock, graceMs: 5000 })
    await begun.promise
    running.cancel()
    let isOver = false
    void running.result.then(() => (isOver = true))
    await clock.advance(4000)
    expect(isOver).toBe(false)
    cleaned.resolve()
    expect((await ended()).type).toBe('cancelled')
    expect(log).toEqual(['clean'])
  })

  test('waits for what a tool does at the end of its progress', async () => {
    const cleaned = deferred()
    const log: string[] = []
    const ticking = defineTool({
      name: 'ticking',
      description: 'Ticks.',
      async *execute() {
        try {
          for (let tick = 0; ; tick++) yield await Promise.resolve({ tick })
        } finally {
          await cleaned.promise
          log.push('clean')
        }
      },
    })
    const agent = defineAgent({
      name: 'a',
      model: scriptedModel([[call('c1', 'ticking')]]),
      tools: [ticking],
    })
    const running = run(agent, messages, { bufferSize: 1 })
    for await (const event of linted(running, messages)) if (event.type === 'ACTIVITY_SNAPSHOT') break
    let isOver = false
    void running.result.then(() => (isOver = true))
    await settled()
    expect(isOver).toBe(false)
    cleaned.resolve()
    expect((await running.result).type).toBe('cancelled')
    expect(log).toEqual(['clean'])
  })

  test('does not wait out the delay before a retry', async () => {
    const clock = manualClock()
    const { running, ended, model } = start([[{ error: { status: 503 } }], 'Later.'], [], { clock })
    await settled()
    expect(clock.pending).toBe(1)
    running.cancel()
    expect((await ended()).type).toBe('cancelled')
    expect(model.requests).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  test('is cancelled by the signal of its caller as well', async () => {
    const controller = new AbortController()
    const { ended } = start([['Half', { wait: aborted }]], [], { signal: controller.signal })
    await settled()
    controller.abort(new Error('the tab was closed'))
    expect((await ended()).type).toBe('cancelled')
  })

  test('does nothing when the signal has aborted before it starts', async () => {
    const { ended, model, events } = start(['Hi.'], [], { signal: AbortSignal.abort() })
    expect((await ended()).type).toBe('cancelled')
    expect(events.map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
    expect(model.requests).toHaveLength(0)
  })

  test('is no failure when a tool fails because of it', async () => {
    const begun = deferred()
    const fragile = toolOf('fragile', async ({ signal }) => {
      begun.resolve()
      await aborted(signal)
      throw new Error('connection lost')
    })
    const problems: string[] = []
    const { running, ended } = start([[call('c1', 'fragile')]], [fragile], {
      onProblem: (problem) => problems.push(problem),
    })
    await begun.promise
    running.cancel()
    expect((await ended()).type).toBe('cancelled')
    expect(problems).toEqual(['a tool failed after its call was over'])
  })
})

describe('a run cancelled at a safe point', () => {
  const build = () => {
    const asked = deferred()
    const answer = deferred()
    const begun = deferred()
    const done = deferred()
    const tool = toolOf('slow', async () => {
      begun.resolve()
      await done.promise
      return 'done'
    })
    const script: Script = (request) => {
      asked.resolve()
      if (request.messages.some(({ role }) => role === 'tool')) return 'Never said.'
      return ['Let me.', { wait: answer.promise }, call('c1', 'slow')]
    }
    return { asked, answer, begun, done, tool, script }
  }

  test('after the model lets it answer, and runs no tools', async () => {
    const { asked, answer, tool, script } = build()
    const { running, ended, events } = start(script, [tool])
    await asked.promise
    expect(running.cancel({ at: 'model' })).toBe(true)
    answer.resolve()
    const outcome = await ended()
    expect(outcome.type).toBe('cancelled')
    expect(resultsIn(events)).toEqual([])
    expect(outcome.messages.at(-1)).toMatchObject({ content: 'Let me.', toolCalls: [{ id: 'c1' }] })
    expect(outcome.messages.at(-1)).not.toHaveProperty('metadata')
  })

  test.each(['model', 'tools'] as const)('after %s lets tools at work finish', async (at) => {
    const { answer, begun, done, tool, script } = build()
    const { running, ended, events, model } = start(script, [tool])
    answer.resolve()
    await begun.promise
    running.cancel({ at })
    done.resolve()
    expect((await ended()).type).toBe('cancelled')
    expect(resultsIn(events)).toEqual(['c1: done'])
    expect(model.requests).toHaveLength(1)
  })

  test('after tools runs the tools of the answer that is on its way', async () => {
    const { asked, answer, done, tool, script } = build()
    const { running, ended, events } = start(script, [tool])
    await asked.promise
    running.cancel({ at: 'tools' })
    answer.resolve()
    done.resolve()
    expect((await ended()).type).toBe('cancelled')
    expect(resultsIn(events)).toEqual(['c1: done'])
  })

  test('stops at the earlier one when it is asked for both', async () => {
    const { asked, answer, tool, script } = build()
    const { running, ended, events } = start(script, [tool])
    await asked.promise
    running.cancel({ at: 'model' })
    running.cancel({ at: 'tools' })
    answer.resolve()
    expect((await ended()).type).toBe('cancelled')
    expect(resultsIn(events)).toEqual([])
  })

  test('that it never reaches is complete', async () => {
    const answer = deferred()
    const { running, ended } = start([['Hi', { wait: answer.promise }, ' there.']])
    running.cancel({ at: 'tools' })
    answer.resolve()
    expect(await ended()).toMatchObject({ type: 'completed', text: 'Hi there.' })
  })

  test('is cancelled at once when its time is over', async () => {
    const clock = manualClock()
    const { begun, answer, tool, script } = build()
    const { running, ended } = start(script, [tool], { clock, graceMs: 0 })
    answer.resolve()
    await begun.promise
    running.cancel({ at: 'tools', timeoutMs: 100 })
    await clock.advance(99)
    expect(clock.pending).toBe(1)
    await clock.advance(1)
    expect((await ended()).type).toBe('cancelled')
    expect(clock.pending).toBe(0)
  })

  test('forgets its time limit when it is over before', async () => {
    const clock = manualClock()
    const { begun, answer, done, tool, script } = build()
    const { running, ended } = start(script, [tool], { clock })
    answer.resolve()
    await begun.promise
    running.cancel({ at: 'tools', timeoutMs: 100 })
    done.resolve()
    expect((await ended()).type).toBe('cancelled')
    await settled()
    expect(clock.pending).toBe(0)
  })
})

test('cancelling a run that is over says so, and changes nothing', async () => {
  const { running, ended, events } = start(['Hi.'])
  expect((await ended()).type).toBe('completed')
  const count = events.length
  expect(running.cancel()).toBe(false)
  expect(running.cancel({ at: 'model', timeoutMs: 10 })).toBe(false)
  await settled()
  expect(events).toHaveLength(count)
})

test('the next run knows what was said, and that calls were not carried out', async () => {
  const begun = deferred()
  const slow = toolOf('slow', async ({ signal }) => {
    begun.resolve()
    await aborted(signal)
  })
  const model = scriptedModel([['Let me.', call('c1', 'slow')], 'Again.'])
  const client = createClient(defineAgent({ name: 'a', model, tools: [slow] }))
  const controller = new AbortController()
  const playing = client.say('Go.', { signal: controller.signal })
  await begun.promise
  controller.abort()
  expect((await playing).outcome.type).toBe('cancelled')
  await client.say('Go on.')
  expect(model.requests[1]?.messages.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'Go.'],
    ['assistant', 'Let me.'],
    ['tool', 'The call of slow was cancelled: it was not carried out and has no result.'],
    ['user', 'Go on.'],
  ])
})

test('a run cancelled in the midst of text gives the model that text as its own', async () => {
  const model = scriptedModel([['Half of ', { wait: aborted }], 'The rest.'])
  const client = createClient(defineAgent({ name: 'a', model }))
  const controller = new AbortController()
  const playing = client.say('Go.', { signal: controller.signal })
  await settled()
  controller.abort()
  await playing
  await client.say('Go on.')
  expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual(['Go.', 'Half of ', 'Go on.'])
})

test('a run that starts afresh after a cancelled one has none of its values', async () => {
  const begun = deferred()
  const seen: unknown[] = []
  const keep = toolOf('keep', ({ values, signal }) => {
    seen.push(values.get('kept'))
    values.set('kept', true)
    begun.resolve()
    return seen.length === 1 ? aborted(signal) : 'done'
  })
  const { running, ended } = start([[call('c1', 'keep')]], [keep])
  await begun.promise
  running.cancel()
  const { type, checkpoint } = await ended()
  expect([type, checkpoint?.values]).toEqual(['cancelled', { kept: true }])
  const { model, ended: over } = start([[call('c2', 'keep')], 'Done.'], [keep], { checkpoint })
  expect(await over()).toMatchObject({ type: 'completed', text: 'Done.' })
  expect([seen, model.requests.length]).toEqual([[undefined, undefined], 2])
})

describe('a run cancelled between its last text and its end', () => {
  const hung = deferred()

  /** An agent that hangs after its answer the first time. */
  function agentOf(script: Script, extra: Partial<AgentOptions> = {}) {
    const reached = deferred()
    let runs = 0
    const onEnd = async (): Promise<void> => {
      reached.resolve()
      if (++runs === 1) await hung.promise
    }
    const model = scriptedModel(script)
    const agent = defineAgent({
      name: 'a',
      description: 'Answers.',
      model,
      middlewares: [{ onEnd }],
      ...extra,
    })
    return { agent, reached: reached.promise, model }
  }

  async function cancelThenResume(agent: Agent, reached: Promise<void>) {
    const running = run(agent, messages, { graceMs: 0 })
    await reached
    running.cancel()
    const cancelled = await running.result
    const { outcome } = await play(agent, {}, { checkpoint: cancelled.checkpoint })
    return outcome
  }

  test('has its text when it is resumed', async () => {
    const { agent, reached, model } = agentOf(['The answer.'])
    expect(await cancelThenResume(agent, reached)).toMatchObject({ type: 'completed', text: 'The answer.' })
    expect(model.requests).toHaveLength(1)
  })

  test('has the text of the agent that it handed over to', async () => {
    const { agent, reached } = agentOf(['From below.'])
    const lead = defineAgent({
      name: 'lead',
      model: scriptedModel([[{ toolCall: { name: 'transfer_to_agent', args: { agent_name: 'a' } } }]]),
      subAgents: [agent],
    })
    expect(await cancelThenResume(lead, reached)).toMatchObject({ type: 'completed', text: 'From below.' })
  })

  test('has the text of an earlier step when the last step writes none', async () => {
    const { agent, reached } = agentOf(['The first step.'])
    const silent: Agent = {
      name: 'silent',
      description: 'Writes nothing.',
      // eslint-disable-next-line require-yield
      run: async function* () {
        return await Promise.resolve({ type: 'done' as const })
      },
    }
    const steps = sequential({ name: 'steps', agents: [agent, silent] })
    expect(await cancelThenResume(steps, reached)).toMatchObject({ text: 'The first step.' })
  })

  test('has no text of an earlier turn', async () => {
    const { agent, reached } = agentOf([[call('c1', 'note')]], {
      tools: [{ ...toolOf('note', () => 'noted'), returnDirectly: true }],
    })
    const turn: Message[] = [{ id: 'm0', role: 'assistant', content: 'Old.' }, ...messages]
    const running = run(agent, turn, { graceMs: 0 })
    await reached
    running.cancel()
    const { checkpoint } = await running.result
    expect((await play(agent, {}, { checkpoint })).outcome).toMatchObject({ type: 'completed', text: '' })
  })
})
