import { isRecord } from '../../core/is-record.js'
import { Dropped, formatPath } from '../check/check-value.js'
import type { FieldNote } from '../contract.js'

/** Messages of a request, ready for the check against the 1.0 schema. */
interface LegacyMessages {
  /** The messages in 1.0 shapes, with `Dropped` in place of those left out. */
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

/** Whether a message may need a change. Most histories are plain text and are not copied. */
function mayBeLegacy(message: unknown): boolean {
  return isRecord(message) && (message.role === 'activity' || Array.isArray(message.content))
}

function upgradeContent(
  content: readonly unknown[],
  warn: (part: number, kind: string) => void,
): readonly unknown[] {
  if (!content.some(isBinaryPart)) return content
  const modern = new Set(content.flatMap(mediaKeys))
  return content.map((part, index) => {
    if (!isBinaryPart(part)) return part
    const media = toMediaPart(part)
    if (!media) return new Dropped('legacy binary part without a mimeType and data or url')
    // Clients of the transition send an attachment in both shapes.
    if (modern.has(mediaKey(media, media.metadata?.filename))) {
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

function isBinaryPart(part: unknown): part is Record<string, unknown> {
  return isRecord(part) && part.type === 'binary'
}

function toMediaPart({ mimeType, data, url, filename }: Record<string, unknown>): MediaPart | undefined {
  if (typeof mimeType !== 'string') return undefined
  const source = isNonEmptyString(data)
    ? { type: 'data', value: data }
    : isNonEmptyString(url) && { type: 'url', value: url }
  if (!source) return undefined
  return {
    type: mediaType(mimeType),
    source: { ...source, mimeType },
    ...(isNonEmptyString(filename) && { metadata: { filename } }),
  }
}

function mediaType(mimeType: string): string {
  const [family = ''] = mimeType.toLowerCase().split('/')
  return ['image', 'audio', 'video'].includes(family) ? family : 'document'
}

/** Keys of a modern part, with and without its file name: a set of these finds repeats in one step each. */
function mediaKeys(part: unknown): string[] {
  if (!isRecord(part) || !isRecord(part.source)) return []
  const { type } = part
  const { type: kind, value, mimeType } = part.source
  if (
    !isNonEmptyString(type) ||
    !isNonEmptyString(kind) ||
    !isNonEmptyString(value) ||
    !isNonEmptyString(mimeType)
  )
    return []
  const media = { type, source: { type: kind, value, mimeType } }
  const filename = isRecord(part.metadata) ? part.metadata.filename : undefined
  return isNonEmptyString(filename) ? [mediaKey(media), mediaKey(media, filename)] : [mediaKey(media)]
}

function mediaKey({ type, source }: MediaPart, filename?: string): string {
  return JSON.stringify([type, source.type, source.mimeType, source.value, filename])
}

function isNonEmptyString(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
