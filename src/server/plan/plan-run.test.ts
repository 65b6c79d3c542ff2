import type { Interrupt, Message } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { shorthand, talk } from '../../../test/support/talk.js'
import { planRequest, type PlanFacts } from '../../../test/support/plan-request.js'
import { isImported, isReported } from '../../protocol/index.js'
import { planRun } from './plan-run.js'
import type { RunPlan } from './run-plan.js'

const plan = (facts: PlanFacts): RunPlan => planRun(planRequest(facts))

/** The plan in short: its type and the conversation. */
function brief(given: RunPlan): string {
  if (given.type === 'refuse') return `refuse ${given.error.code}`
  return given.type === 'nothing' ? 'nothing' : `${given.type} ${shorthand(given.messages)}`
}

function catchUp(given: RunPlan): string[] {
  return 'catchUp' in given ? given.catchUp.map(({ type }) => type) : []
}

describe('a thread that does not exist yet', () => {
  it.each([
    ['starts with a user message', 'u1', 'run u1'],
    ['keeps the order, with a system message in front', 's1 u1 d1 u2', 'run s1 u1 d1 u2'],
    ['takes the history of the client', 's1 u1 r1 a1 u2 a2 u3', 'run s1 u1 r1 a1 u2 a2 u3'],
    ['takes calls with their results', 'u1 a1(c1) t-c1 a2 u2', 'run u1 a1(c1) t-c1 a2 u2'],
    ['runs after a result', 'u1 a1(c1) t-c1', 'run u1 a1(c1) t-c1'],
    ['does not wait for a call of the server', 'u1 a1(c1,c2) t-c1', 'run u1 a1(c1,c2) t-c1'],
    ['leaves out results without a call', 'u1 t-c9 a1 u2 t-c8', 'run u1 a1 u2'],
    ['leaves out a second message of an id', 'u1 a1(c1) t-c1 t-c1 a1 u2', 'run u1 a1(c1) c1-result u2'],
    ['has nothing to do for what the agent is said to have said', 'u1 a1', 'nothing'],
    ['refuses the result of a call it never made', 'a1 t-c1', 'refuse NO_TOOL_RESULTS'],
    ['has nothing to do without messages', '', 'nothing'],
  ])('%s', (_what, client, expected) => {
    expect(brief(plan({ client }))).toBe(expected)
  })

  it('marks what it takes in the name of others, and stores all of it', () => {
    const given = plan({ client: 's1 u1 a1(c1) t-c1 r2 a2 u2' })
    if (given.type !== 'run') throw new Error(given.type)
    expect(shorthand(given.messages.filter(isImported))).toBe('a1(c1) t-c1 r2 a2')
    expect(given).toMatchObject({ change: { keep: 0, append: given.messages }, catchUp: [], fork: false })
  })

  it('keeps the marks that a message has', () => {
    const [old] = talk('a1')
    const client = [...talk('u1'), { ...old, metadata: { x: 1, millrace: { cutOff: true } } } as Message]
    const given = plan({ client: [...client, ...talk('u2')] })
    const metadata = { x: 1, millrace: { cutOff: true, imported: true } }
    expect(given).toMatchObject({ messages: [{}, { metadata }, {}] })
  })

  it('waits for the results of client tools, also when the user goes on', () => {
    const clientTools = ['tool_c2']
    const client = 'u1 a1(c1,c2) t-c1'
    const pendingToolCalls = [{ id: 'c2', name: 'tool_c2' }]
    expect(plan({ client, clientTools })).toMatchObject({ type: 'store' })
    expect(plan({ client: `${client} a2 u2`, clientTools })).toMatchObject({ type: 'run', pendingToolCalls })
  })
})

describe('what a run has rejected, from a client that missed the end of that run', () => {
  const drafts = talk('a9(c9) t-c9').map((one) => ({ ...one, metadata: { millrace: { rejected: 'busy' } } }))
  const client = [...talk('u1 a1'), ...drafts, ...talk('u2')]

  it.each<[string, Omit<PlanFacts, 'client'>]>([
    ['a known thread', { stored: 'u1 a1' }],
    ['an unknown thread', {}],
    ['the history of the client', { stored: 'u1 a1', history: 'client' }],
  ])('is taken neither as a message nor as a report, and taken back there: %s', (_where, facts) => {
    const given = plan({ ...facts, client })
    expect(brief(given)).toBe('run u1 a1 u2')
    expect(given).toMatchObject({ catchUp: [{ type: 'MESSAGES_SNAPSHOT' }] })
  })
})

describe('what is new', () => {
  it.each([
    ['a user message is delivered', 'u1 a1', 'u1 a1 u2', 'run u1 a1 u2'],
    ['all user messages are delivered', 'u1 a1', 'u1 a1 u2 u3', 'run u1 a1 u2 u3'],
    ['system and developer messages are delivered in order', 'u1 a1', 'u1 a1 d1 u2 s1', 'run u1 a1 d1 u2 s1'],
    ['a system message in front goes to the end', 'u1 a1', 's1 u1 a1 u2', 'run u1 a1 s1 u2'],
    ['one that stands among old ones goes to the end', 'u1 a1', 'u1 u2 a1', 'run u1 a1 u2'],
    ['a message that comes twice is taken once', 'u1 a1', 'u1 a1 u2 u2', 'run u1 a1 u2'],
    [
      'a client that has an id twice, as stored, is up to date',
      'u1 a1 u2 a1',
      'u1 a1 u2 a1 u3',
      'run u1 a1 u2 a1 u3',
    ],
    ['an id that is stored twice is that of the first', 'u1 a1 u2 a1', 'a1 u2 u3', 'run u1 a1 u2 a1 u3'],
    ['a list in another order appends', 'u1 a1 u2 a2', 'a2 u1 u2 a1 u3', 'run u1 a1 u2 a2 u3'],
    ['an assistant message is not taken', 'u1 a1', 'u1 a1 a9', 'nothing'],
    ['reasoning and activity are not taken', 'u1 a1', 'u1 a1 r9 v9 u2', 'run u1 a1 u2'],
    ['a client that knows nothing appends', 'u1 a1', 'u9', 'run u1 a1 u9'],
    ['a client that dropped old messages appends', 'u1 a1 u2 a2', 'a2 u3', 'run u1 a1 u2 a2 u3'],
    ['a client without reasoning appends', 'u1 r1 a1 v1', 'u1 a1 u2', 'run u1 r1 a1 v1 u2'],
    ['nothing', 'u1 a1', 'u1 a1', 'nothing'],
    ['nothing, in a tab that is behind', 'u1 a1 u2 a2', 'u1 a1', 'nothing'],
    ['nothing, in an empty list', 'u1 a1', '', 'nothing'],
  ])('%s', (_what, stored, client, expected) => {
    expect(brief(plan({ stored, client }))).toBe(expected)
  })

  it('is not a prompt in front that is stored under another id', () => {
    const prompt: Message = { id: 's9', role: 'system', content: 'text of s1' }
    const stored = 's1 u1 a1'
    expect(brief(plan({ stored, client: [prompt, ...talk('u1 a1')] }))).toBe('nothing')
    expect(brief(plan({ stored, client: [prompt, ...talk('u1')] }))).toBe('run s1 u1')
    expect(brief(plan({ stored, client: [prompt, ...talk('u2')] }))).toBe('run s1 u1 a1 u2')
    // But the same words at the end, or alone, are said once more.
    expect(brief(plan({ stored, client: [...talk('u1 a1'), prompt] }))).toBe('run s1 u1 a1 s9')
    expect(brief(plan({ stored, client: [prompt] }))).toBe('run s1 u1 a1 s9')
  })

  it('is a change of what is stored', () => {
    const given = plan({ stored: 'u1 a1', client: 'u1 a1 u2' })
    expect(given).toMatchObject({ change: { keep: 2, append: [{ id: 'u2' }] }, fork: false })
  })

  it('leaves known messages as they are stored, whatever the client says of them', () => {
    const stored = talk('s1 u1 a1(c1) t-c1 a2')
    const client = talk('s1* u1 a1* t-c1* a2* u2')
    const given = plan({ stored, client })
    expect('messages' in given && given.messages.slice(0, 5)).toEqual(stored)
  })

  it('is not what has the id of a message of another kind', () => {
    const client: Message[] = [...talk('u1'), { id: 'a1', role: 'user', content: 'not the agent' }]
    expect(brief(plan({ stored: 'u1 a1', client }))).toBe('nothing')
  })
})

describe('tool results', () => {
  const calls = { stored: 'u1 a1(c1,c2)', pending: ['c1', 'c2'] }

  it.each<[string, PlanFacts, string]>([
    [
      'start the agent when all are there',
      { ...calls, client: 'u1 a1 t-c1 t-c2' },
      'run u1 a1(c1,c2) t-c1 t-c2',
    ],
    ['are stored while one is missing', { ...calls, client: 'u1 a1 t-c1' }, 'store u1 a1(c1,c2) t-c1'],
    [
      'start the agent with the last one, in any order',
      { stored: 'u1 a1(c1,c2) t-c2', pending: ['c1', 'c2'], client: 'u1 a1 t-c2 t-c1' },
      'run u1 a1(c1,c2) t-c2 t-c1',
    ],
    [
      'need not be sent again',
      { stored: 'u1 a1(c1,c2) t-c1', pending: ['c2'], client: 'u1 a1 t-c2' },
      'run u1 a1(c1,c2) t-c1 t-c2',
    ],
    [
      'go right behind their calls',
      { stored: 'u1 a1(c1,c2) t-c1 r1 v1', pending: ['c2'], client: 'u1 a1 t-c1 t-c2' },
      'run u1 a1(c1,c2) t-c1 t-c2 r1 v1',
    ],
    [
      'go behind the calls of several messages',
      { stored: 'u1 a1(c1) a2(c2) v1', pending: ['c1', 'c2'], client: 'u1 a1 a2 t-c2 t-c1' },
      'run u1 a1(c1) t-c1 a2(c2) t-c2 v1',
    ],
    [
      'go to the end when no message has the call',
      { stored: 'u1 a1', pending: ['c1'], client: 'u1 a1 t-c1' },
      'run u1 a1 t-c1',
    ],
    ['count only for calls that wait', { stored: 'u1 a1(c1)', client: 'u1 a1 t-c1' }, 'nothing'],
    ['change nothing when none is new', { ...calls, client: 'u1 a1' }, 'nothing'],
    [
      'that came are not missing for a user who goes on',
      { ...calls, client: 'u1 a1 t-c1 u2' },
      'run u1 a1(c1,c2) t-c1 u2',
    ],
    ['may stay away when the user goes on', { ...calls, client: 'u1 a1 u2' }, 'run u1 a1(c1,c2) u2'],
    [
      'are stored together with messages of the application',
      { ...calls, client: 'u1 a1 t-c1 s1' },
      'store u1 a1(c1,c2) t-c1 s1',
    ],
    [
      'do not wait for a call that the user has left behind',
      { stored: 'u1 a1(c1) u2 a2(c2)', pending: ['c1', 'c2'], client: 'u1 a1 u2 a2 t-c2' },
      'run u1 a1(c1) u2 a2(c2) t-c2',
    ],
  ])('%s', (_what, facts, expected) => {
    expect(brief(plan(facts))).toBe(expected)
  })

  it('change the messages from where they go', () => {
    const given = plan({ stored: 'u1 a1(c1) r1', pending: ['c1'], client: 'u1 a1 t-c1' })
    expect(given).toMatchObject({ change: { keep: 2, append: [{ id: 't-c1' }, { id: 'r1' }] } })
  })

  it('are taken once for one call: the first', () => {
    const second: Message = { id: 'other', role: 'tool', toolCallId: 'c1', content: 'second' }
    const given = plan({ stored: 'u1 a1(c1)', pending: ['c1'], client: [...talk('u1 a1 t-c1'), second] })
    expect(brief(given)).toBe('run u1 a1(c1) t-c1')
  })

  it('get an id of their own when the client uses one twice', () => {
    const result: Message = { id: 'a1', role: 'tool', toolCallId: 'c1', content: 'done' }
    const given = plan({ stored: 'u1 a1(c1) s1', pending: ['c1'], client: [...talk('u1 a1 s1'), result] })
    expect(brief(given)).toBe('run u1 a1(c1) c1-result s1')
    expect(catchUp(given)).toEqual(['MESSAGES_SNAPSHOT', 'MESSAGES_SNAPSHOT'])
  })

  it('of a call that was never made are refused when nothing else is new', () => {
    const given = plan({ stored: 'u1 a1(c1)', client: 'u1 a1 t-c9' })
    expect(brief(given)).toBe('refuse NO_TOOL_RESULTS')
    expect(given).toMatchObject({ error: { status: 400, expose: true, details: { toolCallId: 'c9' } } })
  })

  it.each([
    ['something else is new', 'u1 a1 u2 t-c9', 'run u1 a1(c1) u2'],
    ['they are not the newest', 'u1 t-c9 a1', 'nothing'],
  ])('of a call that was never made are ignored when %s', (_what, client, expected) => {
    expect(brief(plan({ stored: 'u1 a1(c1)', client }))).toBe(expected)
  })

  it('do nothing when the call has been answered', () => {
    const again: Message = { id: 'again', role: 'tool', toolCallId: 'c1', content: 'other' }
    const stored = 'u1 a1(c1) t-c1 a2'
    expect(brief(plan({ stored, client: [...talk('u1 a1 t-c1 a2'), again] }))).toBe('nothing')
    // From a tab that has not seen the answer yet.
    expect(brief(plan({ stored, client: [...talk('u1 a1'), again] }))).toBe('nothing')
  })
})

describe('a report', () => {
  const stored = 'u1 a1'

  it.each([
    ['is taken with its result', 'u1 a1 a9(c9) t-c9', 'run u1 a1 a9(c9) t-c9'],
    ['is taken before a message of the user', 'u1 a1 a9(c9) t-c9 u2', 'run u1 a1 a9(c9) t-c9 u2'],
    ['may have several calls', 'u1 a1 a9(c8,c9) t-c9 t-c8', 'run u1 a1 a9(c8,c9) t-c9 t-c8'],
    ['may follow another', 'u1 a1 a8(c8) t-c8 a9(c9) t-c9', 'run u1 a1 a8(c8) t-c8 a9(c9) t-c9'],
    ['may follow a message of the user', 'u1 a1 u2 a9(c9) t-c9', 'run u1 a1 u2 a9(c9) t-c9'],
    ['may follow a notice of the page', 'u1 a1 a8 a9(c9) t-c9', 'run u1 a1 a9(c9) t-c9'],
    ['is none after a stored message of the user', 'u1 a9(c9) t-c9 u2', 'run u1 u2'],
    ['is none of a client that knows nothing', 'u9 a9(c9) t-c9', 'run u1 a1 u9'],
    ['is none without a result', 'u1 a1 a9(c9)', 'nothing'],
    ['is none while a result is missing', 'u1 a1 a9(c8,c9) t-c9', 'refuse NO_TOOL_RESULTS'],
    ['is none before a message of the agent', 'u1 a9(c9) t-c9 a1', 'nothing'],
    ['is none before a message in the name of the agent', 'u1 a1 a9(c9) t-c9 a8 u2', 'run u1 a1 u2'],
  ])('%s', (_what, client, expected) => {
    expect(brief(plan({ stored, client }))).toBe(expected)
  })

  it('is marked', () => {
    const given = plan({ stored, client: 'u1 a1 a9(c9) t-c9 u2' })
    expect('messages' in given && shorthand(given.messages.filter(isReported))).toBe('a9(c9) t-c9')
  })

  it('may come from a client that is behind', () => {
    const given = plan({ stored: 'u1 a1 u2 a2', client: 'u1 a1 a9(c9) t-c9' })
    expect(brief(given)).toBe('run u1 a1 u2 a2 a9(c9) t-c9')
  })

  it('cannot use a call that the agent has made', () => {
    const client = 'u1 a1 a9(c1) t-c1*'
    expect(brief(plan({ stored: 'u1 a1(c1) t-c1', client }))).toBe('nothing')
    expect(brief(plan({ stored: 'u1 a1(c1)', client }))).toBe('nothing')
    expect(brief(plan({ stored: 'u1 a1(c1)', pending: ['c1'], client }))).toBe('run u1 a1(c1) t-c1')
  })

  it('waits with the results of client tools', () => {
    const given = plan({ stored: 'u1 a1(c1)', pending: ['c1'], client: 'u1 a1 a9(c9) t-c9' })
    expect(brief(given)).toBe('store u1 a1(c1) a9(c9) t-c9')
  })

  it('gets an id of its own for a result that has another’s', () => {
    const result: Message = { id: 'a9', role: 'tool', toolCallId: 'c9', content: 'done' }
    const given = plan({ stored, client: [...talk('u1 a1 a9(c9)'), result] })
    expect(brief(given)).toBe('run u1 a1 a9(c9) c9-result')
  })

  describe('that is stored', () => {
    const reported = plan({ stored, client: 'u1 a1 a9(c9) t-c9' })
    const kept = 'messages' in reported ? reported.messages : []

    it.each<[string, string, string, string[]]>([
      ['need not be sent again', 'a2', 'u1 a1 a2 u2', []],
      ['may be sent again', 'a2', 'u1 a1 a9(c9) t-c9 a2 u2', []],
      ['is not cut off by a client that lacks it', '', 'u1 a1 u2', []],
    ])('%s', (_what, more, client, snapshots) => {
      const given = plan({ stored: [...kept, ...talk(more)], client, state: { a: 1 }, clientState: { a: 2 } })
      expect(brief(given)).toBe(['run u1 a1 a9(c9) t-c9', more, 'u2'].filter(Boolean).join(' '))
      expect(given).toMatchObject({ fork: false, state: { a: 2 } })
      expect(catchUp(given)).toEqual(snapshots)
    })

    it('is answered again, or cut off with what is before it', () => {
      const answered = [...kept, ...talk('a2')]
      expect(plan({ stored: answered, client: 'u1 a1 a9(c9) t-c9' })).toMatchObject({
        fork: true,
        messages: kept,
      })
      expect(plan({ stored: answered, client: 'u1' })).toMatchObject({ fork: true, messages: talk('u1') })
    })
  })
})

describe('open interrupts', () => {
  const interrupts: Interrupt[] = [{ id: 'q1', reason: 'tool_call', toolCallId: 'c1' }]
  const interrupted = { stored: 'u1 a1(c1,c2)', interrupts, status: 'interrupted' as const }

  it.each<[string, PlanFacts, string]>([
    ['are raised again', { ...interrupted, client: 'u1 a1' }, 'run u1 a1(c1,c2)'],
    [
      'are raised again instead of taking a message',
      { ...interrupted, client: 'u1 a1 u2 s1' },
      'run u1 a1(c1,c2)',
    ],
    ['are raised again instead of taking an edit', { ...interrupted, client: 'u1*' }, 'run u1 a1(c1,c2)'],
    ['are raised again instead of another answer', { ...interrupted, client: 'u1' }, 'run u1 a1(c1,c2)'],
    [
      'do not stand in the way of results',
      { ...interrupted, pending: ['c2'], client: 'u1 a1 t-c2 u2' },
      'run u1 a1(c1,c2) t-c2',
    ],
    [
      'are not answered by a result',
      { ...interrupted, pending: ['c1'], client: 'u1 a1 t-c1' },
      'run u1 a1(c1,c2)',
    ],
    [
      'that are answered let messages in',
      { ...interrupted, client: 'u1 a1 t-c1 u2', resume: ['q1'] },
      'run u1 a1(c1,c2) u2',
    ],
    [
      'that are answered keep what their run has left',
      { ...interrupted, client: 'u1*', resume: ['q1'] },
      'run u1 a1(c1,c2)',
    ],
    [
      'that are answered hold no results back',
      { ...interrupted, pending: ['c2', 'c3'], client: 'u1 a1 t-c2', resume: ['q1'] },
      'run u1 a1(c1,c2) t-c2',
    ],
  ])('%s', (_what, facts, expected) => {
    const given = plan(facts)
    expect(brief(given)).toBe(expected)
    expect(given).toMatchObject({ fork: false })
  })

  it('that were never raised cannot be answered', () => {
    expect(brief(plan({ ...interrupted, client: 'u1 a1 u2', resume: ['q0'] }))).toBe('refuse INVALID_RESUME')
    expect(brief(plan({ stored: 'u1 a1', client: 'u1 a1', resume: ['q1'] }))).toBe('refuse INVALID_RESUME')
  })

  it('that were answered before are done with, and what else is new counts', () => {
    const before = { stored: 'u1 a1', checkpoint: { answered: ['q1'] }, resume: ['q1'] }
    expect(brief(plan({ ...before, client: 'u1 a1' }))).toBe('nothing')
    expect(plan({ ...before, client: 'u1 a1 u2' })).toMatchObject({ type: 'run', resume: [] })
  })

  it.each<[string, PlanFacts, string]>([
    ['with a list that ends with the message of the user', { client: 'u1' }, 'nothing'],
    ['with an edit', { client: 'u1*' }, 'nothing'],
    ['with a new message behind an older part', { client: 'u1 u3' }, 'run u1 a1 u2 a2 u3'],
    ['where the client has the history', { client: 'u1', history: 'client' }, 'nothing'],
    ['the same, with a new message', { client: 'u1 u3', history: 'client' }, 'run u1 u3'],
  ])('that were answered before are never a reason to cut: %s', (_what, facts, expected) => {
    const given = plan({ stored: 'u1 a1 u2 a2', checkpoint: { answered: ['q1'] }, resume: ['q1'], ...facts })
    expect(brief(given)).toBe(expected)
    expect(given).not.toMatchObject({ fork: true })
  })

  it('are answered although other answers are to none', () => {
    const given = plan({ ...interrupted, client: 'u1 a1', resume: ['q0', 'q1'] })
    expect(given).toMatchObject({ type: 'run', resume: [{ interruptId: 'q0' }, { interruptId: 'q1' }] })
  })

  it('do not take a waiting message from the client', () => {
    const stored = talk(interrupted.stored)
    expect(plan({ ...interrupted, client: 'u2' })).toMatchObject({
      catchUp: [{ messages: [] }, { messages: [...stored, ...talk('u2')] }],
    })
    expect(catchUp(plan({ ...interrupted, client: `${interrupted.stored} u2` }))).toEqual([])
    expect(catchUp(plan({ ...interrupted, client: '' }))).toEqual(['MESSAGES_SNAPSHOT'])
  })
})

describe('a run that did not come to an end', () => {
  const takenBack: Message = {
    id: 'a9',
    role: 'assistant',
    content: 'wrong',
    metadata: { millrace: { rejected: 'no JSON' } },
  }

  const cutOff: Message = {
    id: 'a8',
    role: 'assistant',
    content: 'I was about',
    metadata: { millrace: { cutOff: true } },
  }

  it.each<[string, PlanFacts, string]>([
    ['is tried again', { stored: 'u1', client: 'u1', status: 'failed' }, 'run u1'],
    ['is tried again when it was cancelled', { stored: 'u1', client: 'u1', status: 'cancelled' }, 'run u1'],
    ['is tried again when it was lost', { stored: 'u1', client: 'u1', status: 'lost' }, 'run u1'],
    [
      'is tried again with the same id',
      { stored: 'u1', client: 'u1', status: 'lost', runId: 'run-1' },
      'run u1',
    ],
    [
      'is tried again after a result',
      { stored: 'u1 a1(c1) t-c1 r1', client: 'u1 a1 t-c1', status: 'failed' },
      'run u1 a1(c1) t-c1',
    ],
    [
      'is tried again after what was taken back',
      { stored: [...talk('u1 r1'), takenBack], client: [...talk('u1'), takenBack], status: 'failed' },
      'run u1',
    ],
    [
      'is tried again without the answer that was cut off',
      { stored: [...talk('u1'), cutOff], client: [...talk('u1'), cutOff], status: 'failed' },
      'run u1',
    ],
    [
      'is tried again without the answer that was cancelled',
      { stored: [...talk('u1'), cutOff], client: [...talk('u1'), cutOff], status: 'cancelled' },
      'run u1',
    ],
    [
      'goes on after a call whose result is missing',
      { stored: 'u1 a1(c1)', client: 'u1 a1', status: 'failed' },
      'run u1 a1(c1)',
    ],
    [
      'begins again when one of its agents had spoken and the next failed',
      { stored: 'u1 a1', client: 'u1 a1', status: 'failed' },
      'run u1',
    ],
    [
      'is over when it was cancelled after the answer',
      { stored: 'u1 a1', client: 'u1 a1', status: 'cancelled' },
      'nothing',
    ],
    [
      'waits for missing results',
      { stored: 'u1 a1(c1,c2) t-c1', pending: ['c2'], client: 'u1 a1 t-c1', status: 'cancelled' },
      'nothing',
    ],
    ['is another case than one that did', { stored: 'u1', client: 'u1', runId: 'run-1' }, 'nothing'],
    ['is asked again in a new run when no message has its answer', { stored: 'u1', client: 'u1' }, 'run u1'],
    [
      'is not when it was asked before it ended',
      { stored: 'u1', client: 'u1', messagesOnArrival: 0 },
      'nothing',
    ],
  ])('%s', (_what, facts, expected) => {
    expect(brief(plan(facts))).toBe(expected)
  })

  it('keeps a whole answer in a fork, and no draft', () => {
    const whole = planRun(planRequest({ stored: 'u1 a1', client: 'u1 a1', status: 'lost' }))
    expect(whole).toMatchObject({ fork: true, change: { keep: 1, append: [] } })
    const stored = [...talk('u1'), cutOff]
    const draft = planRun(planRequest({ stored, client: stored, status: 'lost' }))
    expect(draft).toMatchObject({ fork: false, change: { keep: 1, append: [] } })
    expect(draft).toMatchObject({ catchUp: [{ type: 'MESSAGES_SNAPSHOT', messages: talk('u1') }] })
  })

  it('is tried again with the messages as they are stored', () => {
    const request = planRequest({ stored: 'u1', client: 'u1', status: 'failed' })
    const given = planRun(request)
    expect(given).toMatchObject({ change: { keep: 1, append: [] } })
    expect('messages' in given && given.messages[0]).toBe(request.thread?.messages[0])
  })
})

describe('the catchUp', () => {
  it.each<[string, PlanFacts, string[]]>([
    ['is empty for a client that is up to date', { stored: 'u1 r1 a1', client: 'u1 a1 u2' }, []],
    ['is empty for a new thread', { client: 's1 u1', clientState: { a: 1 } }, []],
    [
      'has the messages that a client lacks',
      { stored: 'u1 a1', client: 'u9' },
      ['MESSAGES_SNAPSHOT', 'MESSAGES_SNAPSHOT'],
    ],
    [
      'begins anew when a client would end up with another order',
      { stored: 'u1 a1', client: 'a1 u1 u2' },
      ['MESSAGES_SNAPSHOT', 'MESSAGES_SNAPSHOT'],
    ],
    [
      'has the messages when some are not taken',
      { stored: 'u1 a1', client: 'u1 a1 a9 u2' },
      ['MESSAGES_SNAPSHOT'],
    ],
    [
      'has the state that a client lacks',
      { stored: 'u1 a1', client: 'u1 a1 u2', state: { a: 1 }, clientState: {} },
      ['STATE_SNAPSHOT'],
    ],
    [
      'has no state when the client only lacks what is private',
      { stored: 'u1 a1', client: 'u1 a1 u2', state: { a: 1, secret: 2 }, clientState: { a: 1 } },
      [],
    ],
    [
      'has both, messages first',
      { stored: 'u1 a1', client: 'u9', state: { a: 1 }, clientState: {} },
      ['MESSAGES_SNAPSHOT', 'MESSAGES_SNAPSHOT', 'STATE_SNAPSHOT'],
    ],
  ])('%s', (_what, facts, expected) => {
    expect(catchUp(plan(facts))).toEqual(expected)
  })

  it('has all messages and the full state', () => {
    const given = plan({ stored: 'u1 r1 a1', client: 'u9', state: { a: 1, secret: 2 }, clientState: {} })
    expect(given).toMatchObject({
      catchUp: [
        { messages: [] },
        { messages: talk('u1 r1 a1 u9') },
        { type: 'STATE_SNAPSHOT', snapshot: { a: 1, secret: 2 } },
      ],
    })
  })
})

describe('the state', () => {
  const given = { stored: 'u1 a1 u2 a2 r2', state: { a: 1, b: 2, secret: 3 }, clientState: { a: 5, c: 6 } }

  it.each([
    ['is changed by a client that has the newest message', 'u1 a1 u2 a2 u3', { a: 5, c: 6, secret: 3 }],
    ['is changed by one that dropped old messages', 'a2 u3', { a: 5, c: 6, secret: 3 }],
    ['is added to by one that is behind', 'a1 u3', { a: 1, b: 2, c: 6, secret: 3 }],
    ['is set by one that knows nothing', 'u9', { a: 5, b: 2, c: 6, secret: 3 }],
  ])('%s', (_what, client, state) => {
    expect(plan({ ...given, client })).toHaveProperty('state', state)
  })

  it('is the client’s on an empty thread', () => {
    expect(plan({ stored: '', client: 'u1', clientState: { a: 1 } })).toHaveProperty('state', { a: 1 })
    expect(plan({ client: 'u1', clientState: { a: 1, secret: 2 } })).toHaveProperty('state', { a: 1 })
  })
})

describe('the state of a request', () => {
  it('is stored when nothing else is new, without a run', () => {
    const facts = { stored: 'u1 a1', client: 'u1 a1', state: { a: 1 } }
    expect(plan({ ...facts, clientState: { a: 2 } })).toMatchObject({ type: 'store', state: { a: 2 } })
    expect(brief(plan({ ...facts, clientState: { a: 1 } }))).toBe('nothing')
  })

  it('counts with an edit and with a regenerated answer', () => {
    const facts = { stored: 'u1 a1', state: { a: 1, b: 1 }, clientState: { a: 2 } }
    expect(plan({ ...facts, client: 'u1*' })).toMatchObject({ fork: true, state: { a: 2 } })
    expect(plan({ ...facts, client: 'u1' })).toMatchObject({ fork: true, state: { a: 2 } })
  })

  it.each(['server', 'client'] as const)('does not undo what a client has not heard of (%s)', (history) => {
    const facts = {
      stored: 'u1 a1',
      client: 'u1 a1 u2',
      state: { a: 'new', b: 1 },
      shown: { a: 'old', b: 1 },
    }
    const given = plan({ ...facts, history, clientState: { a: 'old', b: 2 } })
    expect(given).toMatchObject({ type: 'run', state: { a: 'new', b: 2 } })
  })
})

const planForClient = (facts: PlanFacts): RunPlan => plan({ ...facts, history: 'client' })

describe('when the history is the client’s', () => {
  const calls = { stored: 'u1 a1(c1,c2)', pending: ['c1', 'c2'] }

  it.each<[string, PlanFacts, string]>([
    ['its messages are the conversation', { client: 's1 u1 a1 u2' }, 'run s1 u1 a1 u2'],
    ['what is stored does not count', { stored: 'u1 a1 u2', client: 'u8 a8 u9' }, 'run u8 a8 u9'],
    ['reasoning and results are taken', { client: 'u1 r1 a1(c1) t-c1' }, 'run u1 r1 a1(c1) t-c1'],
    ['an empty list is nothing to do', { stored: 'u1', client: '' }, 'nothing'],
    ['a list that ends with an answer is nothing to do', { client: 'u1 a1' }, 'nothing'],
    [
      'an answered interrupt is something to do',
      { stored: 'u1 a1', client: 'u1 a1', interrupts: [{ id: 'q1', reason: 'x' }], resume: ['q1'] },
      'run u1 a1',
    ],
    [
      'an open interrupt is raised again',
      { stored: 'u1 a1', client: 'u1 a1', interrupts: [{ id: 'q1', reason: 'x' }] },
      'run u1 a1',
    ],
    ['a result of an unknown call is not refused', { stored: 'u1', client: 'u1 t-c9' }, 'run u1 t-c9'],
    [
      'results are stored while one is missing',
      { ...calls, client: 'u1 a1(c1,c2) t-c2' },
      'store u1 a1(c1,c2) t-c2',
    ],
    ['all results run', { ...calls, client: 'u1 a1(c1,c2) t-c2 t-c1' }, 'run u1 a1(c1,c2) t-c2 t-c1'],
    [
      'a user message goes on without them',
      { ...calls, client: 'u1 a1(c1,c2) t-c2 u2' },
      'run u1 a1(c1,c2) t-c2 u2',
    ],
  ])('%s', (_what, facts, expected) => {
    expect(brief(planForClient(facts))).toBe(expected)
  })

  it('what is the same as stored is kept', () => {
    const given = planForClient({ stored: 'u1 a1 u2 a2', client: 'u1 a1 u2* u3' })
    expect(given).toMatchObject({ change: { keep: 2, append: talk('u2* u3') }, fork: false })
  })

  it('a shorter list cuts the stored one, and that is no fork', () => {
    const given = planForClient({ stored: 'u1 a1 u2 a2', client: 'u1' })
    expect(given).toMatchObject({ messages: talk('u1'), change: { keep: 1, append: [] }, fork: false })
  })

  it('the state is the client’s, except for an empty one and the keys of the server', () => {
    const facts = { stored: 'u1 a1', client: 'u9', state: { a: 1, secret: 2 } }
    expect(planForClient({ ...facts, clientState: { b: 1 } })).toHaveProperty('state', { b: 1, secret: 2 })
    expect(planForClient({ ...facts, clientState: {} })).toHaveProperty('state', facts.state)
  })

  it('the catchUp has the state that the client lacks, and never messages', () => {
    const facts = { stored: 'u1 a1', client: 'u9', state: { a: 1 } }
    expect(planForClient({ ...facts, clientState: { a: 1 } })).toMatchObject({ catchUp: [] })
    expect(planForClient({ ...facts, clientState: {} })).toMatchObject({
      catchUp: [{ type: 'STATE_SNAPSHOT' }],
    })
  })
})
