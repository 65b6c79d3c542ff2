import type { ServerResponse } from 'node:http'
import type { Api } from './support-models-providers.js'
import { serve, type Handler } from './loopback.js'

/** Serves on a loopback port until the test ends; gives the origin. */
export async function serveOrigin(handler: Handler): Promise<string> {
  return new URL(await serve(handler)).origin
}

/** Begins an event stream. */
export function beginStream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' })
}

/** The frame of one event, as the providers write it. */
export function frame(event: { readonly type?: string }): string {
  const name = event.type === undefined ? '' : `event: ${event.type}\n`
  return `${name}data: ${JSON.stringify(event)}\n\n`
}

/** What the providers send for an answer that begins with the word `Hel`. */
export const beginnings: Readonly<Record<Api, string>> = {
  chat: frame({
    ...{ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' },
    ...{ choices: [{ index: 0, delta: { role: 'assistant', content: 'Hel' }, finish_reason: null }] },
  } as object),
  responses: [
    { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'm' } },
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } },
    { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Hel' },
  ]
    .map(frame)
    .join(''),
  messages: [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 3, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
  ]
    .map(frame)
    .join(''),
  gemini: frame({ candidates: [{ content: { role: 'model', parts: [{ text: 'Hel' }] } }] } as object),
}
