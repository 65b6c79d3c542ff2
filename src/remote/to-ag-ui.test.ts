import { expect, it } from 'vitest'
import type { Checkpoint } from '../agents/index.js'
import { createMemoryCheckpoints } from './to-ag-ui.js'

it('keeps the checkpoints that were saved last', async () => {
  const checkpoints = createMemoryCheckpoints(2)
  const checkpoint = (threadId: string) => ({ threadId }) as Checkpoint
  for (const id of ['a', 'b', 'a', 'c']) await checkpoints.save(id, checkpoint(id))
  expect(await checkpoints.load('a')).toEqual({ threadId: 'a' })
  expect(await checkpoints.load('b')).toBeUndefined()
  expect(await checkpoints.load('c')).toEqual({ threadId: 'c' })
})
