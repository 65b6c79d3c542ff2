import { describe, expect, test } from 'vitest'
import { idOf, interruptsOf, play, resultsIn, toResume } from '../../../test/support/run-agent.js'
import { scriptedModel } from '../../models/index.js'
import type { Agent } from '../contract.js'
import { defineAgent } from '../chat/chat-agent.js'
import type { Checkpoint } from '../interrupts/checkpoint.js'
import { defineTool } from '../tools/define-tool.js'
import { interruptedBy, isAnswered, withAnswers, type InterruptFrame } from '../interrupts/interrupt-frame.js'
import { run, type Outcome } from './run.js'

const call = (id: string) => ({ toolCall: { id, name: 'mail', args: {} } })
const threadId = 't1'
const again = { id: 'u2', role: 'user' as const, content: 'Never mind. Hello.' }

function checkpointOf(outcome: Outcome): Checkpoint {
  if (!outcome.checkpoint) throw new Error(`The run was ${outcome.type}, without a checkpoint.`)
  return JSON.parse(JSON.stringify(outcome.checkpoint)) as Checkpoint
}

/** Mails that ask first. The one that is called `slow` never comes to its end. */
function mailer(afterwards: 'hangs' | 'fails') {
  const sent: string[] = []
  const mail = defineTool({
    name: 'mail',
    description: 'Sends a mail.',
    async execute(_args, { interrupt, toolCallId, signal }) {
      await interrupt({})
      if (toolCallId === 'slow') await aborted(signal)
      sent.push(toolCallId)
      return 'sent'
    },
  })
  const agentOf = (...calls: string[]): Agent => {
    let isFirst = true
    const model = scriptedModel(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'user') return last.content === again.content ? 'Hello.' : calls.map(call)
      if (!isFirst) return 'Done.'
      isFirst = false
      return ['Half', afterwards === 'fails' ? { error: { status: 400 } } : { wait: aborted }]
    })
    return defineAgent({ name: 'mailer', model, tools: [mail] })
  }
  return { agentOf, sent }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })
}

/** Answers everything, and stops the run when it has seen this. */
async function answeredAndStopped(agent: Agent, asked: Outcome, seen: string): Promise<Outcome> {
  if (asked.type !== 'interrupted') throw new Error(asked.type)
  const resume = toResume(Object.fromEntries(asked.interrupts.map(({ id }) => [id, 'yes'])))
  const running = run(agent, { threadId, resume }, { checkpoint: checkpointOf(asked) })
  for await (const { type } of running) if (type === seen) running.cancel()
  return running.result
}

describe('an interrupt whose call has its result when the run fails', () => {
  test.each([
    ['cancelled', 'hangs'],
    ['failed', 'fails'],
  ] as const)('is not open any more when the run was %s', async (type, afterwards) => {
    const { agentOf, sent } = mailer(afterwards)
    const agent = agentOf('c1')
    const first = await play(agent, { threadId, messages: [{ ...again, id: 'u1', content: 'Mail.' }] })
    const seen = type === 'cancelled' ? 'TEXT_MESSAGE_CONTENT' : 'RUN_ERROR'
    const outcome = await answeredAndStopped(agent, first.outcome, seen)
    expect(outcome.type).toBe(type)
    const checkpoint = checkpointOf(outcome)
    expect(checkpoint).toMatchObject({ openInterrupts: [], answered: [idOf(first)] })
    const next = await play(agent, { threadId, messages: [...outcome.messages, again] }, { checkpoint })
    expect(next.outcome).toMatchObject({ type: 'completed', text: 'Hello.' })
    expect(sent).toEqual(['c1'])
  })

  test('is done with, while the others stay open', async () => {
    const { agentOf, sent } = mailer('hangs')
    const agent = agentOf('c1', 'slow')
    const first = await play(agent, { threadId, messages: [{ ...again, id: 'u1', content: 'Mail.' }] })
    const [one, two] = interruptsOf(first)
    const outcome = await answeredAndStopped(agent, first.outcome, 'TOOL_CALL_RESULT')
    const checkpoint = checkpointOf(outcome)
    expect(checkpoint).toMatchObject({ openInterrupts: [{ interrupt: two }], answered: [one?.id] })
    expect(sent).toEqual(['c1'])
    // The first answer comes once more, and does nothing.
    const resume = toResume({ [one?.id ?? '']: 'no', [two?.id ?? '']: 'yes' })
    const running = run(agent, { threadId, resume }, { checkpoint })
    setTimeout(() => running.cancel(), 20)
    expect(await running.result).toMatchObject({ type: 'cancelled', checkpoint: { openInterrupts: [{}] } })
    expect(sent).toEqual(['c1'])
  })
})

describe('an agent that raises interrupts for several calls at once', () => {
  /** As agents of foreign runtimes do: it goes on when it has all answers. Fails after the first result. */
  function batchOf(): { readonly agent: Agent; readonly heard: unknown[] } {
    const heard: unknown[] = []
    const questions = ['c1', 'c2'].map((toolCallId) => ({
      interrupt: { id: `ask ${toolCallId}`, reason: 'tool_call', toolCallId },
    }))
    const agent: Agent = {
      name: 'batch',
      description: '',
      async *run(ctx) {
        await Promise.resolve()
        const saved = ctx.resume.takeFrame() as InterruptFrame | undefined
        const frame = saved ? withAnswers(saved, ctx.resume.answers) : { interrupts: questions, answers: {} }
        for (const toolCallId of saved ? [] : ['c1', 'c2']) {
          yield { type: 'TOOL_CALL_START', toolCallId, toolCallName: 'mail' }
          yield { type: 'TOOL_CALL_END', toolCallId }
        }
        if (!isAnswered(frame)) return interruptedBy(ctx.span.address, frame)
        heard.push(frame.answers)
        if (heard.length > 1) return { type: 'done' }
        yield { type: 'TOOL_CALL_RESULT', messageId: 'r1', toolCallId: 'c1', content: 'sent' }
        throw new Error('broken')
      },
    }
    return { agent, heard }
  }

  test('gets the answers that were done with again when it has the rest', async () => {
    const { agent, heard } = batchOf()
    const first = await play(agent, 'Go.')
    const answers = { 'ask c1': 1, 'ask c2': 2 }
    const given = { checkpoint: checkpointOf(first.outcome) }
    const second = await play(agent, { resume: toResume(answers) }, given)
    expect(resultsIn(second.events)).toEqual(['c1: sent'])
    const checkpoint = checkpointOf(second.outcome)
    expect(checkpoint).toMatchObject({
      openInterrupts: [{ interrupt: { id: 'ask c2' } }],
      answered: ['ask c1'],
    })
    const third = await play(agent, { resume: toResume({ 'ask c2': 3 }) }, { checkpoint })
    expect(third.outcome.type).toBe('completed')
    expect(heard.at(-1)).toMatchObject({ 'ask c1': { payload: 1 }, 'ask c2': { payload: 3 } })
  })
})

test('an interrupt that is raised again by itself can be answered again', async () => {
  const agent: Agent = {
    name: 'forgetful',
    description: '',
    // eslint-disable-next-line require-yield -- It only asks.
    async *run(ctx) {
      await Promise.resolve()
      return interruptedBy(ctx.span.address, {
        interrupts: [{ interrupt: { id: 'same', reason: 'why' } }],
        answers: {},
      })
    },
  }
  const first = await play(agent, 'Go.')
  const resume = toResume({ same: 1 })
  const second = await play(agent, { resume }, { checkpoint: checkpointOf(first.outcome) })
  expect(checkpointOf(second.outcome)).toMatchObject({ openInterrupts: [{}], answered: [] })
})
