import type { ContentPart, Message, UserMessage } from '@ag-ui/core'
import { stableHash } from '../../core/hash.js'
import { isEqual } from '../../core/is-equal.js'

/** On a message that a hook has changed: a hash of what the client had sent. */
const sentMark = 'millrace.sent'

/**
 * Whether a client's message says something else than the stored one of its id. Only people's messages are edited. How the
 * same is written does not count, nor what was changed on the way in, nor what clients before 1.0 cannot hold.
 */
export function isEdited(stored: Message, message: Message, isLegacy: boolean): boolean {
  if (stored.role !== 'user' || message.role !== 'user') return false
  if (stored.content === message.content) return false
  const held = partsOf(stored).filter(
    (part) => !isLegacy || part.type === 'text' || part.source.type !== 'file',
  )
  if (isEqual(held.map(plain), partsOf(message).map(plain))) return false
  const sent: unknown = stored.metadata?.[sentMark]
  return sent === undefined || sent !== hashOf(message)
}

/** What a hook has made of a client's message, so that the client's own is not taken for an edit later. */
export function withSentMark(changed: Message, sent: Message | undefined): Message {
  if (changed.role !== 'user' || sent?.role !== 'user' || isEqual(changed.content, sent.content))
    return changed
  return { ...changed, metadata: { ...changed.metadata, [sentMark]: hashOf(sent) } }
}

function hashOf(message: UserMessage): string {
  return stableHash(JSON.stringify(partsOf(message).map(plain)))
}

function partsOf({ content }: UserMessage): readonly ContentPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function plain({ id: _id, metadata: _metadata, ...part }: ContentPart & { readonly id?: string }): object {
  return part
}
