import { expect, test } from 'vitest'
import { deferred, settled, type Deferred } from '../../../test/support/run-agent.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { createOutbox } from './run-output.js'
import type { Outcome } from './run.js'

const outcome: Outcome = { type: 'cancelled', messages: [], state: {}, usage: [] }
const finished: AgUiEvent = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }

function word(name: string): AgUiEvent {
  return { type: 'CUSTOM', name, value: 0 }
}

/** Names in `full` are taken when the test lets them. */
function rig(...full: readonly string[]) {
  const calls: string[] = []
  const gates = new Map<string, Deferred>(full.map((name) => [name, deferred()]))
  const outbox = createOutbox({
    send(event) {
      const name = event.type === 'CUSTOM' ? event.name : event.type
      calls.push(name)
      return gates.get(name)?.promise
    },
    end(event, { type }) {
      calls.push(`${event.type} ${type}`)
      return gates.get('end')?.promise
    },
  })
  return { outbox, calls, open: (name: string) => gates.get(name)?.resolve() }
}

test('events are handed on as they are written, and nothing is waited for', () => {
  const { outbox, calls } = rig()
  outbox.put(word('a'))
  outbox.put(word('b'))
  expect([calls, outbox.room]).toEqual([['a', 'b'], undefined])
})

test('what is written while there is no room waits, in order', async () => {
  const { outbox, calls, open } = rig('a', 'c')
  for (const name of ['a', 'b', 'c', 'd']) outbox.put(word(name))
  const { room } = outbox
  expect(calls).toEqual(['a'])
  open('a')
  await settled()
  expect(calls).toEqual(['a', 'b', 'c'])
  outbox.put(word('e'))
  open('c')
  await room
  expect([calls, outbox.room]).toEqual([['a', 'b', 'c', 'd', 'e'], undefined])
})

test('the last event is held back, and handed over with the outcome behind all others', async () => {
  const { outbox, calls, open } = rig('a', 'end')
  outbox.put(word('a'))
  outbox.put(word('b'))
  outbox.put(finished)
  let isOver = false
  const over = outbox.end(outcome).then(() => (isOver = true))
  await settled()
  expect(calls).toEqual(['a'])
  open('a')
  await settled()
  expect([calls, isOver]).toEqual([['a', 'b', 'RUN_FINISHED cancelled'], false])
  open('end')
  await over
})

test('there is nothing to hand over when there was no last event', async () => {
  const { outbox, calls } = rig()
  await outbox.end(outcome)
  expect(calls).toEqual([])
})
