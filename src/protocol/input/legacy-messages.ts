import { Dropped } from '../check/check-value.js'
import { isRecord } from '../../core/is-record.js'
import { formatPath, type FieldNote } from '../check/field-note.js'

/** Messages of a request, made ready for the check against the 1.0 schema. */
export interface LegacyMessages {
  /** The messages with what older clients send turned into 1.0 shapes; left-out ones stand as `Dropped`. */
  readonly messages: unknown
  readonly warnings: readonly FieldNote[]
}

/**
 * Reads what clients before 1.0 send in `messages`: `binary` content parts become media parts. Activity messages,
 * which no version of the protocol allows in a run input, are marked as dropped. Positions stay the same, so that
 * later checks name the fields of the original request. Never mutates its argument.
 */
export function upgradeMessages(messages: unknown): LegacyMessages {
  if (!Array.isArray(messages) || !messages.some(mayBeLegacy)) return { messages, warnings: [] }
  const warnings: FieldNote[] = []
  const upgraded = messages.map((message: unknown, index) => {
    if (!isRecord(message)) return message
    if (message.role === 'activity') return new Dropped('activity messages do not belong in a run input')
    const content = message.content
    if (!Array.isArray(content)) return message
    const warn = (part: number, kind: string): void => {
      const field = formatPath(['messages', index, 'content', part])
      warnings.push({ field, message: `legacy binary part, read as ${kind}` })
    }
    return { ...message, content: upgradeContent(content, warn) }
  })
  return { messages: upgraded, warnings }
}

/** Most histories are plain text: of those there is nothing to copy. */
function mayBeLegacy(message: unknown): boolean {
  return isRecord(message) && (message.role === 'activity' || Array.isArray(message.content))
}

function upgradeContent(
  content: readonly unknown[],
  warn: (part: number, kind: string) => void,
): readonly unknown[] {
  if (!content.some(isBinary)) return content
  const modern = new Set(content.flatMap(keysOfPart))
  return content.map((part, index) => {
    if (!isBinary(part)) return part
    const media = toMediaPart(part)
    if (!media) return new Dropped('legacy binary part without a mimeType and data or url')
    // Clients of the transition send an attachment in both shapes.
    if (modern.has(keyOf(media, media.metadata?.filename))) {
      return new Dropped('legacy binary part that repeats another part')
    }
    warn(index, media.type)
    return media
  })
}

interface MediaPart {
  readonly type: string
  readonly source: { readonly type: string; readonly value: string; readonly mimeType: string }
  readonly metadata?: { readonly filename: string }
}

function isBinary(part: unknown): part is Record<string, unknown> {
  return isRecord(part) && part.type === 'binary'
}

function toMediaPart({ mimeType, data, url, filename }: Record<string, unknown>): MediaPart | undefined {
  if (typeof mimeType !== 'string') return undefined
  const source = isText(data) ? { type: 'data', value: data } : isText(url) && { type: 'url', value: url }
  if (!source) return undefined
  return {
    type: mediaType(mimeType),
    source: { ...source, mimeType },
    ...(isText(filename) && { metadata: { filename } }),
  }
}

function mediaType(mimeType: string): string {
  const [family = ''] = mimeType.toLowerCase().split('/')
  return ['image', 'audio', 'video'].includes(family) ? family : 'document'
}

/** What a modern part carries, with and without its file name: a set of these finds repeats in one step each. */
function keysOfPart(part: unknown): string[] {
  if (!isRecord(part) || !isRecord(part.source)) return []
  const { type } = part
  const { type: kind, value, mimeType } = part.source
  if (!isText(type) || !isText(kind) || !isText(value) || !isText(mimeType)) return []
  const media = { type, source: { type: kind, value, mimeType } }
  const filename = isRecord(part.metadata) ? part.metadata.filename : undefined
  return isText(filename) ? [keyOf(media), keyOf(media, filename)] : [keyOf(media)]
}

function keyOf({ type, source }: MediaPart, filename?: string): string {
  return JSON.stringify([type, source.type, source.mimeType, source.value, filename])
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
