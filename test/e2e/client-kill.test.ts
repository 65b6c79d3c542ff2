import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { servingChildren } from './support-child.js'
import { clientOf, textsOf, until } from './support-client.js'
import { cuttingProxy } from './support-proxy.js'
import { historyOf, temporaryFolder } from './support-server.js'

const start = servingChildren()

it('a run whose process is killed shows as lost, in every tab, and the thread goes on', async () => {
  const path = join(temporaryFolder(), 'threads.db')
  const first = await start(path)
  const proxy = await cuttingProxy(first.url, [])
  onTestFinished(() => proxy.close())
  const client = clientOf(proxy.url)
  const [agent] = await client.agents()
  const [thread, tab] = [0, 1].map(() => clientOf(proxy.url).thread(agent?.name ?? '', 't'))
  if (!thread || !tab) throw new Error('There are two tabs.')
  const stop = tab.subscribe(() => undefined)
  const done = thread.send('hang')
  await until(tab, (snapshot) => textsOf(snapshot).includes('assistant: Some words '))
  first.signal('SIGKILL')
  await first.ended
  await until(tab, ({ connection }) => connection === 'retrying')
  expect(tab.getSnapshot().status).toBe('running')

  const second = await start(path)
  proxy.target = second.url
  expect(await done).toMatchObject({ status: 'failed', error: { code: 'RUN_LOST' } })
  const lost = await until(tab, ({ status }) => status === 'idle')
  expect(lost.error).toMatchObject({ code: 'RUN_LOST' })
  // A page that loads later is told too.
  const page = clientOf(proxy.url).thread(agent?.name ?? '', 't')
  expect((await until(page, ({ status }) => status === 'idle')).error).toMatchObject({ code: 'RUN_LOST' })
  const stored = await historyOf(second.url, 't')
  for (const each of [thread, tab, page])
    expect((await until(each, ({ messages }) => messages.length === stored.length)).messages).toEqual(stored)

  expect(await thread.send('still there?')).toMatchObject({ status: 'completed' })
  expect(thread.getSnapshot().error).toBeUndefined()
  expect(textsOf(thread.getSnapshot()).at(-1)).toBe('assistant: You said: still there?')
  const after = await historyOf(second.url, 't')
  const followed = await until(
    tab,
    ({ messages, status }) => messages.length === after.length && status === 'idle',
  )
  expect(followed.messages).toEqual(after)
  stop()
})
