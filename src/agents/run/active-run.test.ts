import { expect, test } from 'vitest'
import { deferred, settled, type Deferred } from '../../../test/support/run-agent.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { RunOutput } from './active-run.js'
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
  const output = new RunOutput({
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
  return { output, calls, open: (name: string) => gates.get(name)?.resolve() }
}

test('events are handed on as they are written, and nothing is waited for', () => {
  const { output, calls } = rig()
  output.write(word('a'))
  output.write(word('b'))
  expect([calls, output.backPressure]).toEqual([['a', 'b'], undefined])
})

test('what is written under back-pressure waits, in order', async () => {
  const { output, calls, open } = rig('a', 'c')
  for (const name of ['a', 'b', 'c', 'd']) output.write(word(name))
  const { backPressure } = output
  expect(calls).toEqual(['a'])
  open('a')
  await settled()
  expect(calls).toEqual(['a', 'b', 'c'])
  output.write(word('e'))
  open('c')
  await backPressure
  expect([calls, output.backPressure]).toEqual([['a', 'b', 'c', 'd', 'e'], undefined])
})

test('the last event is held back, and handed over with the outcome behind all others', async () => {
  const { output, calls, open } = rig('a', 'end')
  output.write(word('a'))
  output.write(word('b'))
  output.write(finished)
  let isOver = false
  const over = output.end(outcome).then(() => (isOver = true))
  await settled()
  expect(calls).toEqual(['a'])
  open('a')
  await settled()
  expect([calls, isOver]).toEqual([['a', 'b', 'RUN_FINISHED cancelled'], false])
  open('end')
  await over
})

test('there is nothing to hand over when there was no last event', async () => {
  const { output, calls } = rig()
  await output.end(outcome)
  expect(calls).toEqual([])
})
