import { describe, expect, test } from 'vitest'
import { toolContext } from '../../../../test/support/tool-context.js'
import { SharedState } from '../../run/context.js'
import type { FilesContext } from './files.js'
import { stateFiles } from './state-files.js'

function contextOf(initial: unknown): FilesContext {
  const state = new SharedState(initial)
  return Object.defineProperty(toolContext({ setState: (next) => void state.set(next) }), 'state', {
    get: () => state.current,
  })
}

const refused = expect.objectContaining({ code: 'TOOL_ERROR' }) as Error

describe('files in the shared state', () => {
  test('are texts by path, and leave the rest of the state alone', async () => {
    const ctx = contextOf({ mood: 'good', docs: { 'a.md': 'A' } })
    await stateFiles({ key: 'docs' }).write('b/c.md', 'C', ctx)
    expect(ctx.state).toEqual({ mood: 'good', docs: { 'a.md': 'A', 'b/c.md': 'C' } })
  })

  test.each([undefined, null, {}, { files: null }])('begin with none in the state %o', async (state) => {
    const ctx = contextOf(state)
    expect(await stateFiles().list('', ctx)).toEqual([])
    await stateFiles().write('a.md', 'A', ctx)
    expect(ctx.state).toEqual({ files: { 'a.md': 'A' } })
  })

  test.each([['text'], [[1]], [{ files: 'text' }], [{ files: ['a.md'] }]])(
    'cannot be kept in the state %o',
    async (state) => {
      const ctx = contextOf(state)
      await expect(stateFiles().write('a.md', 'A', ctx)).rejects.toThrow(refused)
      expect(ctx.state).toEqual(state)
    },
  )

  test('are only the texts of what a client has put there', async () => {
    const ctx = contextOf({ files: { 'a.md': 1, 'b.md': 'B' } })
    expect(await stateFiles().list('', ctx)).toEqual([{ name: 'b.md', kind: 'file' }])
    await expect(stateFiles().read('a.md', ctx, { maxBytes: 9 })).rejects.toThrow(refused)
  })

  test('may not take more room than there is', async () => {
    const ctx = contextOf({})
    const files = stateFiles({ maxChars: 10 })
    await files.write('a', '1234', ctx)
    await expect(files.write('b', '12345', ctx)).rejects.toThrow(refused)
    await files.write('b', '1234', ctx)
    await files.write('a', '4321', ctx)
    expect(ctx.state).toEqual({ files: { a: '4321', b: '1234' } })
  })

  test('cannot change what objects are', async () => {
    await expect(stateFiles().write('__proto__', 'A', contextOf({}))).rejects.toThrow(refused)
  })

  test.each([{ key: '' }, { key: '__proto__' }, { maxChars: 0 }])('refuse the options %o', (options) => {
    expect(() => stateFiles(options)).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }))
  })
})
