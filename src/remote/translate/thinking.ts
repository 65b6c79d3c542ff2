import type { IdSource } from '../../core/ids.js'

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads the events for reasoning that servers sent before 1.0. They name no message, so ids are made for them here. All
 * other events pass as they are.
 */
export function createThinkingReader(newId: IdSource): (event: Fields) => Fields {
  let spanId: string | undefined
  let messageId: string | undefined
  return (event) => {
    switch (event.type) {
      case 'THINKING_START': {
        const { title: _, ...rest } = event
        spanId = newId('reasoning')
        return { ...rest, type: 'REASONING_START', messageId: spanId }
      }
      case 'THINKING_TEXT_MESSAGE_START':
        messageId = newId('message')
        return { ...event, type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' }
      case 'THINKING_TEXT_MESSAGE_CONTENT':
        messageId ??= newId('message')
        return { ...event, type: 'REASONING_MESSAGE_CONTENT', messageId }
      case 'THINKING_TEXT_MESSAGE_END': {
        const ended = messageId ?? ''
        messageId = undefined
        return { ...event, type: 'REASONING_MESSAGE_END', messageId: ended }
      }
      case 'THINKING_END':
        return { ...event, type: 'REASONING_END', messageId: spanId ?? '' }
      default:
        return event
    }
  }
}
