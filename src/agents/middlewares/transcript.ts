import type { ContentPart, Message } from '@ag-ui/core'
import { wholeIndex } from './whole-characters.js'

/** What a message says, as a line of a protocol. Empty for what was never said: reasoning and activities. */
export function toTranscript(message: Message): string {
  switch (message.role) {
    case 'user':
      return `User: ${textOf(message.content)}\n`
    case 'assistant': {
      const calls = message.toolCalls ?? []
      const lines = calls.map(
        ({ id, function: { name, arguments: args } }) => `Call ${id} of ${name}: ${args}\n`,
      )
      return [message.content ? `Assistant: ${message.content}\n` : '', ...lines].join('')
    }
    case 'tool':
      return `Result of call ${message.toolCallId}: ${textOf(message.content)}\n`
    case 'system':
    case 'developer':
      return `System: ${message.content}\n`
    case 'reasoning':
    case 'activity':
      return ''
  }
}

/** The text of a message's content, with the kind of each media part in its place. */
export function textOf(content: string | readonly ContentPart[]): string {
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ')
}

/** Cuts text into halves, and those again, until each part fits or is a single character. */
export function splitText(text: string, fits: (part: string) => boolean): string[] {
  const middle = wholeIndex(text, Math.floor(text.length / 2))
  if (middle === 0 || middle === text.length || fits(text)) return [text]
  return [...splitText(text.slice(0, middle), fits), ...splitText(text.slice(middle), fits)]
}
