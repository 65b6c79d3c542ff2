import type { ContentPart, ToolMessage, UserMessage } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import { isToolError } from '../../protocol/index.js'
import type { Part } from '../adk-types.js'

/** Parts for a model, and what had to be left out. */
interface ReadParts {
  readonly parts: readonly Part[]
  readonly notes: readonly string[]
}

/** Whether there is anything in a user message that a model could be given. */
export function hasContent({ content }: UserMessage): boolean {
  if (typeof content === 'string') return content !== ''
  return content.some((part) => part.type !== 'text' || part.text !== '')
}

/**
 * What a user has sent, for the model. In the place of an attachment that cannot be given to it stands a sentence that
 * says so: a message with content always has parts.
 */
export function userParts({ id, content }: UserMessage): ReadParts {
  const notes: string[] = []
  if (typeof content === 'string') return { parts: content === '' ? [] : [{ text: content }], notes }
  const parts = content.flatMap((part): Part[] => {
    if (part.type === 'text') return part.text === '' ? [] : [{ text: part.text }]
    const media = mediaPart(part)
    if (media) return [media]
    notes.push(`message '${id}': the ${part.type} cannot be given to the model`)
    return [{ text: `[An attachment of type ${part.type} could not be read.]` }]
  })
  return { parts, notes }
}

type MediaPart = Exclude<ContentPart, { type: 'text' }>

function mediaPart({ source, metadata }: MediaPart): Part | undefined {
  const name: unknown = isRecord(metadata) ? metadata.filename : undefined
  const displayName = typeof name === 'string' ? { displayName: name } : {}
  const { value } = source
  const mimeType = source.mimeType === undefined ? {} : { mimeType: source.mimeType }
  if (source.type === 'data') {
    return isBase64(value) ? { inlineData: { data: value, ...mimeType, ...displayName } } : undefined
  }
  // A handle means something only to the provider that gave it out.
  if (source.type === 'file' && source.provider !== undefined && source.provider !== 'google')
    return undefined
  return value === '' ? undefined : { fileData: { fileUri: value, ...mimeType, ...displayName } }
}

/** Whether a text is bytes in base64. Models refuse a request with anything else in the place of bytes. */
export function isBase64(text: string): boolean {
  return text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/_-]*={0,2}$/.test(text)
}

/** What a tool returned, as the object that models expect. */
export function responseOf(message: ToolMessage): Record<string, unknown> {
  const text = textOf(message)
  if (message.error !== undefined) {
    return { error: message.error, ...(text === '' || text === message.error ? {} : { result: text }) }
  }
  if (isToolError(message)) return { error: text }
  const parsed = parsedObject(text)
  return parsed ?? { result: text }
}

/** What a tool returned, in words. Media have none. */
export function textOf({ content }: ToolMessage): string {
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n')
}

/** The object that a JSON text stands for. */
export function parsedObject(text: string): Record<string, unknown> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
