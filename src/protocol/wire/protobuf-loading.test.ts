import { expect, it, vi } from 'vitest'

import { createProtobufEncoder } from './protobuf.js'

const loaded = vi.hoisted(() => vi.fn())

vi.mock('@ag-ui/proto', async (original) => {
  loaded()
  return await original()
})

it('loads the protobuf codec when it is first used, not before', async () => {
  await import('./protobuf.js')
  expect(loaded).not.toHaveBeenCalled()
  const encode = await createProtobufEncoder()
  expect(loaded).toHaveBeenCalledOnce()
  expect(encode({ type: 'STEP_STARTED', stepName: 'x' }).length).toBeGreaterThan(4)
})
