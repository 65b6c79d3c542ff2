import type { ContentPart, Message, UserMessage } from '@ag-ui/core'
import { stableHash } from '../../core/ids.js'
import { isEqual } from '../../core/json.js'

/** On a message that a hook has changed: a hash of the client's own. */
const sentMark = 'millrace.sent'

/**
 * Whether a client's message has other content than the stored one of its id. Only user messages are edited. Notation
 * does not count, nor do changes by a hook, nor parts that clients before 1.0 cannot hold.
 */
export function isEdited(stored: Message, message: Message, isLegacy: boolean): boolean {
  if (stored.role !== 'user' || message.role !== 'user') return false
  if (stored.content === message.content) return false
  const before = toParts(stored).filter(
    (part) => !isLegacy || part.type === 'text' || part.source.type !== 'file',
  )
  if (isEqual(before.map(withoutPartId), toParts(message).map(withoutPartId))) return false
  const sent: unknown = stored.metadata?.[sentMark]
  return sent === undefined || sent !== contentHash(message)
}

/** Marks a message that a hook has changed, so that the client's own is not taken for an edit later. */
export function withSentMark(changed: Message, sent: Message | undefined): Message {
  if (changed.role !== 'user' || sent?.role !== 'user' || isEqual(changed.content, sent.content))
    return changed
  return { ...changed, metadata: { ...changed.metadata, [sentMark]: contentHash(sent) } }
}

function contentHash(message: UserMessage): string {
  return stableHash(JSON.stringify(toParts(message).map(withoutPartId)))
}

function toParts({ content }: UserMessage): readonly ContentPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function withoutPartId({
  id: _id,
  metadata: _metadata,
  ...part
}: ContentPart & { readonly id?: string }): object {
  return part
}
