import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFifo } from './fifo.js'

test('behaves like an array that is pushed to and shifted from', () => {
  const command = fc.oneof(
    fc.record({ push: fc.option(fc.nat(), { nil: undefined }) }),
    fc.constant('shift' as const),
  )
  fc.assert(
    fc.property(fc.array(command), (commands) => {
      const fifo = createFifo<number | undefined>()
      const model: (number | undefined)[] = []
      for (const step of commands) {
        if (step !== 'shift') {
          fifo.push(step.push)
          model.push(step.push)
        } else {
          const isEmpty = model.length === 0
          const taken = fifo.shift()
          if (isEmpty) expect(taken).toBeUndefined()
          else expect(taken).toHaveProperty('value', model.shift())
        }
        expect(fifo.size).toBe(model.length)
      }
    }),
  )
})
