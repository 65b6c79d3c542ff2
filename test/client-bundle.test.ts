import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'

const maxBytes = 15 * 1024

/** The minified bundle of an entry with all that it pulls in, but for what `external` names. */
async function bundle(entry: string, external: readonly string[] = []) {
  const build = await rolldown({
    input: join(import.meta.dirname, '..', entry),
    platform: 'browser',
    external: [...external],
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  })
  const { output } = await build.generate({ format: 'esm', minify: true })
  await build.close()
  const [{ code, moduleIds }] = output
  return { bytes: gzipSync(code).length, modules: moduleIds }
}

it('makes a bundle of the client that is at most 15 KB, with all that it pulls in', async () => {
  const { bytes, modules } = await bundle('src/client/index.ts')
  expect(bytes).toBeLessThanOrEqual(maxBytes)
  expect(modules.filter((id) => /\/(zod|rxjs|fast-json-patch|@ag-ui\/client|react)\//.test(id))).toEqual([])
})

it('adds less than 1 KB for React', async () => {
  const [plain, react] = [
    await bundle('src/client/index.ts'),
    await bundle('src/client/react/index.ts', ['react']),
  ]
  expect(react.bytes).toBeLessThanOrEqual(1024)
  expect(plain.bytes).toBeGreaterThan(react.bytes)
})
