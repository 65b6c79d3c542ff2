import type { Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import type { ResumableInterrupt } from '../interrupts/to-interrupts.js'
import { withoutResults } from './start-run.js'

function raised(id: string, fields: { toolCallId?: string; clientCallId?: string } = {}): ResumableInterrupt {
  const { clientCallId, ...rest } = fields
  const interrupt = { id, reason: 'input_required', ...rest }
  return { kind: 'value', interrupt, graphId: id, answersBefore: 0, ...(clientCallId && { clientCallId }) }
}

const result = (toolCallId: string): Message => ({
  ...{ id: `r-${toolCallId}`, role: 'tool', toolCallId, content: 'It is lost.' },
})

describe('the interrupts that still wait', () => {
  test('are not those of calls that have a result in the thread', () => {
    const [done, open] = [raised('i1', { toolCallId: 'c1' }), raised('i2', { toolCallId: 'c2' })]
    expect(withoutResults([done, open], [result('c1')])).toEqual([open])
    expect(withoutResults([done, open], [])).toEqual([done, open])
  })

  test('are those about no call, whatever the thread has', () => {
    const open = raised('i1')
    expect(withoutResults([open], [result('c1')])).toEqual([open])
  })

  test('are those that the result of a client tool answers', () => {
    const open = raised('i1', { toolCallId: 'c1', clientCallId: 'c1' })
    expect(withoutResults([open], [result('c1')])).toEqual([open])
  })
})
