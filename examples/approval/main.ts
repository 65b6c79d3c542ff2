/**
 * A tool that needs approval. The run ends with an interrupt; the answer may come a week later, in another process: all it
 * needs is the checkpoint, which is plain JSON.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent, defineTool, run } from 'millrace'
import { scriptedModel, type ScriptedAnswer } from 'millrace/models'
import { z } from 'zod'

const sent: string[] = []

const sendMail = defineTool({
  name: 'send_mail',
  description: 'Sends a mail.',
  input: z.object({ to: z.string(), text: z.string() }),
  async execute({ to, text }, ctx) {
    const answer = await ctx.interrupt({
      message: `Send "${text}" to ${to}?`,
      responseSchema: z.object({ approved: z.boolean() }),
    })
    if (answer.status === 'cancelled' || !answer.payload.approved) return 'The user does not want it sent.'
    sent.push(to)
    return 'sent'
  },
})

// Created anew each time, as in a new process. A script replaces the model.
const assistant = (answer: ScriptedAnswer) =>
  defineAgent({ name: 'assistant', model: scriptedModel([answer]), tools: [sendMail] })

const file = join(await mkdtemp(join(tmpdir(), 'approval-')), 'checkpoint.json')

// Today.
const interrupted = await run(
  assistant([{ toolCall: { name: 'send_mail', args: { to: 'bob', text: 'Lunch?' } } }]),
  'Ask Bob for lunch.',
).result
assert.equal(interrupted.type, 'interrupted')
const [interrupt] = interrupted.interrupts
assert.ok(interrupt)
console.log('interrupt:', interrupt.message)
await writeFile(file, JSON.stringify(interrupted.checkpoint))
assert.deepEqual(sent, [], 'nothing is sent before the answer')

// Another day.
const answered = await run(
  assistant('Bob has your mail.'),
  { resume: [{ interruptId: interrupt.id, status: 'resolved', payload: { approved: true } }] },
  { checkpoint: JSON.parse(await readFile(file, 'utf8')) as unknown },
).result
assert.equal(answered.type, 'completed')
console.log('answer:', answered.text)
assert.deepEqual(sent, ['bob'])
assert.equal(answered.text, 'Bob has your mail.')
