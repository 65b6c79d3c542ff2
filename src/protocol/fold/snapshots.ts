import type { ActivityMessage, Message } from '@ag-ui/core'
import type { EventOf } from '../contract.js'
import { addMetadata, type MessageList } from './message-list.js'
import { applyPatch } from './patch.js'

/** The key under which the AG-UI client lets a snapshot declare which activity types it knows completely. */
const CLIENT_METADATA = '@ag-ui/client'

/**
 * The messages a client holds after a MESSAGES_SNAPSHOT: known ids keep their place and take the new value, absent
 * ones go, new ones are appended. Activity and reasoning messages stay unless the snapshot has some of their kind.
 */
export function mergeSnapshot(current: readonly Message[], event: EventOf<'MESSAGES_SNAPSHOT'>): Message[] {
  const incoming = new Map(event.messages.map((message) => [message.id, message]))
  const survives = toSurvives(event)
  const merged: Message[] = []
  const kept = new Set<string>()
  for (const message of current) {
    const update = incoming.get(message.id)
    if (!update && !survives(message)) continue
    merged.push(update ?? message)
    kept.add(message.id)
  }
  for (const message of event.messages) {
    if (kept.has(message.id)) continue
    merged.push(message)
  }
  return merged
}

/** Makes the check which messages survive a snapshot that does not contain them. */
function toSurvives(event: EventOf<'MESSAGES_SNAPSHOT'>): (message: Message) => boolean {
  const known = completeActivityTypes(event)
  const hasActivity = event.messages.some(({ role }) => role === 'activity')
  const hasReasoning = event.messages.some(({ role }) => role === 'reasoning')
  return (message) => {
    if (message.role === 'reasoning') return !hasReasoning
    if (message.role !== 'activity' || known === 'all') return false
    return known ? !known.includes(message.activityType) : !hasActivity
  }
}

/** The activity types that the snapshot declares complete: all, some, or undefined when it declares nothing. */
function completeActivityTypes(event: EventOf<'MESSAGES_SNAPSHOT'>): 'all' | readonly unknown[] | undefined {
  if (!event.metadata || !Object.hasOwn(event.metadata, CLIENT_METADATA)) return undefined
  const declared: unknown = event.metadata[CLIENT_METADATA]
  if (typeof declared !== 'object' || declared === null || Array.isArray(declared)) return []
  if (!('authoritativeActivityTypes' in declared)) return undefined
  const types = declared.authoritativeActivityTypes
  if (types === null) return 'all'
  return Array.isArray(types) && types.every((type) => typeof type === 'string') ? types : []
}

export function foldActivitySnapshot(
  messages: MessageList,
  event: EventOf<'ACTIVITY_SNAPSHOT'>,
): string | undefined {
  const known = messages.own(event.messageId)
  const replace = event.replace ?? true
  const fresh: ActivityMessage = {
    id: event.messageId,
    role: 'activity',
    activityType: event.activityType,
    content: event.content,
    ...(event.subagentRunId === undefined ? {} : { subagentRunId: event.subagentRunId }),
  }
  if (!known) {
    addMetadata(fresh, event)
    messages.push(fresh)
    return undefined
  }
  if (known.role !== 'activity') {
    if (replace) {
      addMetadata(fresh, event)
      messages.replace(fresh)
    }
    return `ACTIVITY_SNAPSHOT: message '${event.messageId}' has the role ${known.role}`
  }
  if (!replace) {
    addMetadata(known, event)
    return undefined
  }
  // The content and the owner are new; the metadata stays.
  addMetadata(fresh, known)
  addMetadata(fresh, event)
  messages.replace(fresh)
  return undefined
}

export function foldActivityDelta(
  messages: MessageList,
  event: EventOf<'ACTIVITY_DELTA'>,
): string | undefined {
  const known = messages.own(event.messageId)
  if (!known) return `ACTIVITY_DELTA: there is no activity '${event.messageId}'`
  if (known.role !== 'activity') {
    return `ACTIVITY_DELTA: message '${event.messageId}' has the role ${known.role}`
  }
  addMetadata(known, event)
  const patched = applyPatch(known.content, event.patch)
  if (!patched.ok)
    return `ACTIVITY_DELTA: the patch does not apply to '${event.messageId}': ${patched.reason}`
  messages.replace({
    ...known,
    activityType: event.activityType,
    content: patched.document as ActivityMessage['content'],
  })
  return undefined
}
