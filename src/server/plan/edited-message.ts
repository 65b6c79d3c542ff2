import type { ContentPart, Message, UserMessage } from '@ag-ui/core'
import { isEqual } from '../../core/json.js'
import { isRewritten, rewrittenMark, addMark } from '../../protocol/index.js'

interface EditOptions {
  /** Whether the client speaks AG-UI before 1.0. */
  readonly isLegacy: boolean
  /** Whether it is the last message of the client. */
  readonly isNewest: boolean
}

/**
 * Whether a client's message has other content than the stored one of its id. Only user messages are edited. Notation
 * does not count, nor do parts that clients before 1.0 cannot hold. Of a message that a hook or an agent has changed the
 * client may still have its own words, which nothing here remembers: it is edited when the client asks for a new answer to
 * it.
 */
export function isEdited(stored: Message, message: Message, { isLegacy, isNewest }: EditOptions): boolean {
  if (stored.role !== 'user' || message.role !== 'user') return false
  if (stored.content === message.content) return false
  const before = toParts(stored).filter(
    (part) => !isLegacy || part.type === 'text' || part.source.type !== 'file',
  )
  if (isEqual(before.map(withoutPartId), toParts(message).map(withoutPartId))) return false
  return isNewest || !isRewritten(stored)
}

/** Marks a user's message that a hook or an agent has changed. */
export function withRewrittenMark(changed: Message, sent: Message | undefined): Message {
  if (changed.role !== 'user' || sent?.role !== 'user' || isEqual(changed.content, sent.content))
    return changed
  return addMark(changed, rewrittenMark)
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
