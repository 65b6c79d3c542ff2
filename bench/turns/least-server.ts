import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import type { Handler } from './conversation.js'

interface Kept {
  readonly id: string
  readonly role: string
  readonly content: unknown
}

/** A runtime that streams the answer to the last of these messages. It may know the others. */
export type Answer = (messages: readonly Kept[]) => AsyncIterable<string>

const headers = { 'content-type': 'text/event-stream' }

/**
 * The least that serves a runtime over AG-UI, for one thread: reads the request and checks it with the protocol's own schema,
 * finds what is new and whether anything was edited, keeps the messages in memory, and streams the answer as JSON. No
 * store, no lease, no log, no reconnect, no limits, no other thread.
 */
export function leastServer(answer: Answer): Handler {
  const kept: Kept[] = []
  return async (request) => {
    const { runId, messages } = RunAgentInputSchema.parse(await request.json())
    for (const [position, message] of messages.entries()) {
      const known = kept[position]
      if (!known) kept.push(message as Kept)
      else if (known.id !== message.id || known.content !== message.content) throw new Error('edited')
    }
    const messageId = `message-${crypto.randomUUID()}`
    const encoder = new TextEncoder()
    const body = new ReadableStream<Uint8Array>({
      async start(stream) {
        const write = (event: object): void =>
          stream.enqueue(encoder.encode(`data: ${JSON.stringify(event)}\n\n`))
        write({ type: 'RUN_STARTED', threadId: 't', runId })
        write({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' })
        let content = ''
        for await (const delta of answer(kept)) {
          content += delta
          write({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
        }
        kept.push({ id: messageId, role: 'assistant', content })
        write({ type: 'TEXT_MESSAGE_END', messageId })
        write({ type: 'RUN_FINISHED', threadId: 't', runId, outcome: { type: 'success' } })
        stream.close()
      },
    })
    return new Response(body, { headers })
  }
}
