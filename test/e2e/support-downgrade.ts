import type { ContentPart, Message } from '@ag-ui/core'

import type { AgUiEvent } from '../../src/protocol/contract.js'
import { createSseEncoder, sseHeaders } from '../../src/protocol/wire/sse.js'
import { bodyOf, serve } from './loopback.js'

export const ids = { threadId: 't', runId: 'r' }
export const started: AgUiEvent = { type: 'RUN_STARTED', ...ids, protocolVersion: '1.0' }
export const finished: AgUiEvent = { type: 'RUN_FINISHED', ...ids }

const text: ContentPart = { type: 'text', text: 'seen' }
const image: ContentPart = { type: 'image', source: { type: 'data', value: 'AA', mimeType: 'image/png' } }
const file: ContentPart = { type: 'document', source: { type: 'file', value: 'file-1', provider: 'x' } }

export const message = (id: string, delta: string, owner = {}): AgUiEvent[] => [
  { type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant', ...owner },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta, ...owner },
  { type: 'TEXT_MESSAGE_END', messageId: id, ...owner },
]
export const toolCall = (toolCallId: string, owner = {}): AgUiEvent[] => [
  { type: 'TOOL_CALL_START', toolCallId, toolCallName: 'f', parentMessageId: 'm', ...owner },
  { type: 'TOOL_CALL_ARGS', toolCallId, delta: '{}', ...owner },
  { type: 'TOOL_CALL_END', toolCallId, ...owner },
]
export const calling: Message = {
  id: 'm',
  role: 'assistant',
  toolCalls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
}

/** A shape of AG-UI 1.0 that clients before it cannot read. */
export interface Rule {
  readonly shape: string
  readonly events: readonly AgUiEvent[]
  /** What 0.0.59 says when it gets the events as they are. */
  readonly failure: RegExp
  /** What both clients hold when they get them downgraded. */
  readonly messages: readonly unknown[]
  readonly codes?: readonly string[]
}

export const rules: readonly Rule[] = [
  {
    shape: 'a cancelled run',
    events: [
      started,
      ...message('m', 'par'),
      { type: 'RUN_FINISHED', ...ids, outcome: { type: 'cancelled' } },
    ],
    failure: /Invalid discriminator value/,
    messages: [{ id: 'm', role: 'assistant', content: 'par' }],
    codes: ['abort'],
  },
  {
    shape: 'tool calls left to the client',
    events: [
      started,
      ...toolCall('c'),
      { type: 'RUN_FINISHED', ...ids, outcome: { type: 'success', pendingToolCallIds: ['c'] } },
    ],
    failure: /pendingToolCallIds/,
    messages: [calling],
  },
  {
    shape: 'a tool result in parts',
    events: [
      started,
      ...toolCall('c'),
      { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: [text, image] },
      finished,
    ],
    failure: /Expected string, received array/,
    messages: [calling, { id: 'x', role: 'tool', toolCallId: 'c', content: 'seen' }],
  },
  {
    shape: 'a tool message in parts, in a snapshot',
    events: [
      started,
      {
        type: 'MESSAGES_SNAPSHOT',
        messages: [calling, { id: 'x', role: 'tool', toolCallId: 'c', content: [text, image] }],
      },
      finished,
    ],
    failure: /Expected string, received array/,
    messages: [calling, { id: 'x', role: 'tool', toolCallId: 'c', content: 'seen' }],
  },
  {
    shape: 'a file at a provider, in a snapshot',
    events: [
      started,
      { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'u', role: 'user', content: [text, file] }] },
      finished,
    ],
    failure: /Invalid discriminator value/,
    messages: [{ id: 'u', role: 'user', content: [text] }],
  },
  {
    shape: 'a file at a provider, in the echoed input',
    events: [
      {
        ...started,
        input: {
          ...ids,
          tools: [],
          context: [],
          messages: [{ id: 'u', role: 'user', content: [text, file] }],
        },
      },
      finished,
    ],
    failure: /Invalid discriminator value/,
    messages: [{ id: 'u', role: 'user', content: [text] }],
  },
  {
    shape: 'an echoed input without tools and context',
    // The protocol allows what the type does not.
    events: [
      { ...started, input: { ...ids, messages: [{ id: 'u', role: 'user', content: 'hi' }] } } as AgUiEvent,
      finished,
    ],
    failure: /"tools"[^]*"context"/,
    messages: [{ id: 'u', role: 'user', content: 'hi' }],
  },
]

/** Serves event streams on a loopback socket until the test ends. What is sent may depend on the request's body. */
export function serveEvents(answer: (body: unknown) => readonly AgUiEvent[]): Promise<string> {
  return serve((request, response) => {
    bodyOf(request)
      .then((body) => {
        const encode = createSseEncoder('run')
        response.writeHead(200, sseHeaders)
        for (const [seq, event] of answer(JSON.parse(body)).entries()) response.write(encode(event, seq))
        response.end()
      })
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))))
  })
}

/** Waits for a promise, but not for ever. */
export async function within(promise: Promise<unknown>, ms = 5000): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`still waiting after ${ms} ms`))
    }, ms)
  })
  try {
    await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
