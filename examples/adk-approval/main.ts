/**
 * An ADK tool that needs a person's confirmation. The interrupt is stored with the thread, so it can be answered after a
 * restart of the server, although ADK's sessions were only in memory.
 */
import assert from 'node:assert/strict'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpAgent } from '@ag-ui/client'
import { FunctionTool, LlmAgent } from '@google/adk'
import { demoLlm, fromAdk } from 'millrace/adk'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { createSqliteStore } from 'millrace/sqlite'
import { z } from 'zod'

const sent: string[] = []
const sendMail = new FunctionTool({
  name: 'send_mail',
  description: 'Sends a mail to somebody.',
  parameters: z.object({ to: z.string() }),
  requireConfirmation: true,
  execute: ({ to }) => {
    sent.push(to)
    return `The mail to ${to} is on its way.`
  },
})

const file = join(await mkdtemp(join(tmpdir(), 'adk-approval-')), 'threads.db')

/** Creates everything anew, as a new process would. */
async function start() {
  const assistant = new LlmAgent({
    name: 'assistant',
    model: process.env.GEMINI_API_KEY ? 'gemini-2.5-flash' : demoLlm(),
    instruction: 'Send mails with the tool. Do not ask whether you may: the tool does.',
    tools: [sendMail],
  })
  const store = await createSqliteStore({ path: file })
  return serve(createServer({ agents: [fromAdk(assistant)], store }), { port: 0 })
}

// Today.
const before = await start()
const client = new HttpAgent({ url: before.url, threadId: 'thread-1' })
client.addMessage({ id: 'u1', role: 'user', content: 'Send a mail to Bob.' })
await client.runAgent()
const [interrupt] = client.pendingInterrupts
assert.ok(interrupt)
console.log('interrupt:', interrupt.message)
assert.deepEqual(interrupt.metadata, { agent: 'assistant', toolName: 'send_mail', arguments: { to: 'Bob' } })
assert.deepEqual(sent, [], 'nothing is sent before the answer')
await before.close()

// Another day. The interrupt is still open.
const after = await start()
const { threads } = (await (await fetch(`${after.url}/thread/list`)).json()) as {
  threads: { threadId: string; status: string }[]
}
assert.deepEqual(
  threads.map(({ threadId, status }) => [threadId, status]),
  [['thread-1', 'interrupted']],
)
const later = new HttpAgent({ url: after.url, threadId: 'thread-1', initialMessages: client.messages })
await later.runAgent({
  resume: [{ interruptId: interrupt.id, status: 'resolved', payload: { approved: true } }],
})
const answer = JSON.stringify(later.messages.at(-1)?.content)
console.log('answer:', answer)
assert.deepEqual(sent, ['Bob'])
assert.match(answer, /Bob/)
await after.close()
