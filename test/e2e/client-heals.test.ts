import fc from 'fast-check'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { RunResult, Thread } from '../../src/client/index.js'
import { yieldToEventLoop } from '../../src/core/clock.js'
import { isEqual } from '../../src/core/json.js'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel, type ScriptPiece } from '../../src/models/index.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'
import { propertyRuns } from '../support/property-runs.js'
import { clientOf, until } from './support-client.js'
import { cuttingProxy } from './support-proxy.js'
import { ask, historyOf, serving } from './support-server.js'

/** Says some words one by one, and counts in the state what it was asked. */
function countingAgent() {
  const count = defineTool({
    name: 'count',
    description: 'Counts.',
    input: z.object({}),
    async execute(_, ctx) {
      await yieldToEventLoop()
      ctx.setState((state: { count?: number }) => ({ ...state, count: (state.count ?? 0) + 1 }))
      return 'counted'
    },
  })
  const words = Array.from({ length: 24 }, (_, place): ScriptPiece[] => [
    { wait: () => yieldToEventLoop() },
    `word ${place}, `,
  ])
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? ['Counted: ', ...words.flat()]
      : [...words.slice(0, 8).flat(), { toolCall: { name: 'count', args: {} } }],
  )
  return defineAgent({ name: 'counter', model, tools: [count] })
}

type Step = 'send-1' | 'send-2' | 'patch-1' | 'drop' | 'restart' | 'wait' | 'stop-2'

const cut = fc.record({
  up: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 900 })),
  down: fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 4_000 }) }, fc.constant(Infinity)),
})
const steps = fc.array(
  fc.constantFrom<Step>(
    'send-1',
    'send-1',
    'send-2',
    'send-2',
    'patch-1',
    'drop',
    'restart',
    'wait',
    'stop-2',
  ),
  { minLength: 2, maxLength: 7 },
)

async function serveFile(path: string) {
  return serving({
    agents: [countingAgent()],
    store: await createSqliteStore({ path }),
    limits: { leaseMs: 2_000 },
  })
}

it('holds the thread of the server in the end, whatever breaks when', async () => {
  let cuts = 0
  await fc.assert(
    fc.asyncProperty(fc.array(cut, { maxLength: 14 }), steps, async (planned, sequence) => {
      const folder = mkdtempSync(join(tmpdir(), 'millrace-heals-'))
      const path = join(folder, 'threads.db')
      let server = await serveFile(path)
      const proxy = await cuttingProxy(server.url, planned)
      const tabs = [0, 1].map(() => clientOf(proxy.url).thread('counter', 't'))
      const [one, two] = tabs as [Thread, Thread]
      const stops = tabs.map((tab) => tab.subscribe(() => undefined))
      const sent: Promise<RunResult>[] = []
      const others: Promise<unknown>[] = []
      const perform: Record<Step, () => unknown> = {
        'send-1': () => sent.push(one.send(`from one, ${sent.length}`)),
        'send-2': () => sent.push(two.send(`from two, ${sent.length}`)),
        'patch-1': () => others.push(one.patchState([{ op: 'add', path: '/colour', value: sent.length }])),
        'stop-2': () => others.push(two.stop()),
        drop: () => proxy.dropAll(),
        // A run may be over before anybody looks.
        wait: () => Promise.race([until(one, ({ status }) => status === 'running'), Promise.all(sent)]),
        async restart() {
          await server.close({ graceMs: 0 })
          server = await serveFile(path)
          proxy.target = server.url
        },
      }
      for (const step of sequence) {
        await perform[step]()
        await yieldToEventLoop()
      }
      proxy.mend()
      const results = await Promise.all(sent)
      await Promise.all(others)
      const isSent = results.some(({ status }) => status !== 'cancelled')
      for (const tab of isSent ? tabs : []) await expectEqual(tab, server.url)
      const texts = isSent ? (await historyOf(server.url, 't')).map(({ content }) => content) : []
      results.forEach(({ status, error }, index) => {
        const count = texts.filter((text) => text?.startsWith('from ') && text.endsWith(`, ${index}`)).length
        if (status === 'completed') expect(count, `message ${index}`).toBe(1)
        else expect(count, `message ${index}: ${status} ${error?.message}`).toBeLessThan(2)
      })
      cuts += proxy.cuts
      for (const stop of stops) stop()
      for (const tab of tabs) tab.close()
      await proxy.close()
      await server.close({ graceMs: 0 })
      rmSync(folder, { recursive: true, force: true })
    }),
    { numRuns: propertyRuns(6) },
  )
  expect(cuts).toBeGreaterThan(0)
})

/** Waits until a tab shows what the server has. */
async function expectEqual(tab: Thread, url: string): Promise<void> {
  const messages = await historyOf(url, 't')
  const { body } = await ask(`${url}/state_snapshot/t`)
  const { snapshot } = body as { readonly snapshot: unknown }
  const look = ({ status, messages: held, state }: ReturnType<Thread['getSnapshot']>): boolean =>
    status === 'idle' && isEqual(held, messages) && isEqual(state, snapshot)
  const timeout = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), 8_000).unref())
  const late = await Promise.race([until(tab, look), timeout])
  if (late === 'late') expect(tab.getSnapshot()).toEqual({ messages, state: snapshot, status: 'idle' })
}
