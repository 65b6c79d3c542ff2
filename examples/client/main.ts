/**
 * A front end without a framework: a thread in two tabs, a connection that breaks in the middle of an answer, a reload, a tool
 * that the page carries out, and a title.
 */
import assert from 'node:assert/strict'
import { createClient, type Thread } from 'millrace/client'
import { defineAgent } from 'millrace'
import { scriptedModel } from 'millrace/models'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'

const model = scriptedModel(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return 'The page is blue now.'
  if (last?.content === 'Make it blue')
    return [{ toolCall: { name: 'set_colour', args: { colour: 'blue' } } }]
  return ['It ', 'is ', 'a ', 'fine ', 'day.']
})
const server = createServer({ agents: [defineAgent({ name: 'chat', model })], log: quiet() })
const serving = await serve(server, { port: 0 })

// The first stream breaks after some bytes, as on a train.
let breaks = 1
const client = createClient({
  url: serving.url,
  retry: { firstMs: 10 },
  async fetch(url, init) {
    const response = await fetch(url, init)
    return breaks-- > 0 && response.body ? new Response(cut(response.body, 300), response) : response
  },
})

let colour = 'white'
const tools = {
  set_colour: {
    description: 'Sets the colour of the page.',
    parameters: { type: 'object', properties: { colour: { type: 'string' } } },
    execute: (args: { colour: string }) => {
      colour = args.colour
    },
  },
}
const thread = client.thread<{ likes?: number }, typeof tools>('chat', 'first', { tools })
const tab = client.thread('chat', 'first')
const leave = tab.subscribe(() => undefined)

const { status } = await thread.send('How is the weather?')
assert.equal(status, 'completed')
assert.deepEqual(textsOf(thread), ['How is the weather?', 'It is a fine day.'])

await thread.send('Make it blue')
assert.equal(colour, 'blue')
await thread.patchState([{ op: 'add', path: '/likes', value: 1 }])
assert.equal(thread.getSnapshot().state.likes, 1)

// The other tab has seen all of it.
while (textsOf(tab).length < 6 || tab.getSnapshot().status !== 'idle') await changed(tab)
assert.deepEqual(textsOf(tab), textsOf(thread))
leave()

await client.threads.rename('chat', 'first', 'Colours')
const { threads } = await client.threads.search('chat', 'colour')
assert.deepEqual(
  threads.map(({ threadId }) => threadId),
  ['first'],
)
console.log(textsOf(thread).join('\n'))
await serving.close()

function textsOf({ getSnapshot }: Pick<Thread, 'getSnapshot'>): unknown[] {
  return getSnapshot().messages.map(({ content }) => content)
}

function changed({ subscribe }: Pick<Thread, 'subscribe'>): Promise<void> {
  return new Promise((resolve) => {
    const stop = subscribe(() => {
      stop()
      resolve()
    })
  })
}

/** The beginning of a stream, and then an error. */
function cut(body: ReadableStream<Uint8Array>, bytes: number): ReadableStream<Uint8Array> {
  let left = bytes
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk.slice(0, left))
        left -= chunk.length
        if (left <= 0) controller.error(new Error('The train is in a tunnel.'))
      },
    }),
  )
}

function quiet() {
  const nothing = (): void => undefined
  return { debug: nothing, info: nothing, warn: nothing, error: nothing }
}
