import { describe, expect, it } from 'vitest'

import type { AgUiEvent } from '../events.js'
import { createDowngrade } from './downgrade.js'

const tag = { subagentRunId: 's' }
const started = (stepName: string, owner = {}): AgUiEvent => ({ type: 'STEP_STARTED', stepName, ...owner })
const finished = (stepName: string, owner = {}): AgUiEvent => ({ type: 'STEP_FINISHED', stepName, ...owner })
const ids = { threadId: 't', runId: 'r' }

function inline(...events: AgUiEvent[]): AgUiEvent[] {
  return events.map(createDowngrade()).filter((event) => event !== undefined)
}

describe('the work of a subagent', () => {
  it('is not announced', () => {
    expect(
      inline(
        { type: 'SUBAGENT_STARTED', ...tag, name: 'x' },
        { type: 'SUBAGENT_FINISHED', ...tag },
        { type: 'SUBAGENT_ERROR', ...tag, message: 'x' },
      ),
    ).toEqual([])
  })

  it('reads as the work of its parent', () => {
    expect(
      inline(
        { type: 'TEXT_MESSAGE_START', messageId: 'm', ...tag },
        { type: 'STATE_DELTA', delta: [], subagentRunId: '' },
        { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', role: 'assistant', content: 'x', ...tag }] },
        {
          type: 'RUN_STARTED',
          ...ids,
          input: {
            ...ids,
            tools: [],
            context: [],
            messages: [{ id: 'u', role: 'user', content: 'x', ...tag }],
          },
        },
      ),
    ).toEqual([
      { type: 'TEXT_MESSAGE_START', messageId: 'm' },
      { type: 'STATE_DELTA', delta: [] },
      { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', role: 'assistant', content: 'x' }] },
      {
        type: 'RUN_STARTED',
        ...ids,
        input: { ...ids, tools: [], context: [], messages: [{ id: 'u', role: 'user', content: 'x' }] },
      },
    ])
  })

  it('stays its own when asked for', () => {
    const events: AgUiEvent[] = [
      { type: 'SUBAGENT_STARTED', ...tag, name: 'x' },
      started('tools'),
      started('tools', tag),
      { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', role: 'assistant', content: 'x', ...tag }] },
    ]
    expect(events.map(createDowngrade({ subagents: 'keep' }))).toEqual(events)
  })
})

describe('the steps of parent and subagents', () => {
  it('get different names while they are open, and end under the name they began with', () => {
    const other = { subagentRunId: '' }
    expect(
      inline(
        started('tools'),
        started('tools', tag),
        started('tools', other),
        finished('tools'),
        started('tools'),
        finished('tools', other),
        finished('tools', tag),
        finished('tools'),
      ),
    ).toEqual([
      started('tools'),
      started('tools#2'),
      started('tools#3'),
      finished('tools'),
      started('tools'),
      finished('tools#3'),
      finished('tools#2'),
      finished('tools'),
    ])
  })

  it('keep their name when it is free again', () => {
    const steps = [started('tools', tag), finished('tools', tag), started('tools'), finished('tools')]
    expect(inline(...steps)).toEqual([
      started('tools'),
      finished('tools'),
      started('tools'),
      finished('tools'),
    ])
  })

  it('do not take the name of a step that is really called so', () => {
    expect(inline(started('tools#2'), started('tools'), started('tools', tag))).toEqual([
      started('tools#2'),
      started('tools'),
      started('tools#3'),
    ])
  })

  it('are forgotten when the next run begins', () => {
    const run: AgUiEvent = { type: 'RUN_STARTED', ...ids }
    const failed: AgUiEvent = { type: 'RUN_ERROR', message: 'x' }
    expect(inline(run, started('tools'), failed, run, started('tools', tag))).toEqual([
      run,
      started('tools'),
      failed,
      run,
      started('tools'),
    ])
  })
})
