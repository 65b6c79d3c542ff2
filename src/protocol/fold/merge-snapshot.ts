import type { Message } from '@ag-ui/core'
import type { EventOf } from '../events.js'

/** The key under which the AG-UI client lets a snapshot declare which activity types it knows completely. */
const CLIENT_METADATA = '@ag-ui/client'

/**
 * The messages a client holds after a MESSAGES_SNAPSHOT: known ids keep their place and take the new value, absent
 * ones go, new ones are appended. Activity and reasoning messages stay unless the snapshot speaks of their kind.
 */
export function mergeSnapshot(held: readonly Message[], event: EventOf<'MESSAGES_SNAPSHOT'>): Message[] {
  const incoming = new Map(event.messages.map((message) => [message.id, message]))
  const keeps = clientOnly(event)
  const merged: Message[] = []
  const kept = new Set<string>()
  for (const message of held) {
    const update = incoming.get(message.id)
    if (!update && !keeps(message)) continue
    merged.push(update ?? message)
    kept.add(message.id)
  }
  for (const message of event.messages) {
    if (kept.has(message.id)) continue
    merged.push(message)
  }
  return merged
}

/** Which messages survive a snapshot that does not name them. */
function clientOnly(event: EventOf<'MESSAGES_SNAPSHOT'>): (message: Message) => boolean {
  const known = completeActivityTypes(event)
  const hasActivity = event.messages.some(({ role }) => role === 'activity')
  const hasReasoning = event.messages.some(({ role }) => role === 'reasoning')
  return (message) => {
    if (message.role === 'reasoning') return !hasReasoning
    if (message.role !== 'activity' || known === 'all') return false
    return known ? !known.includes(message.activityType) : !hasActivity
  }
}

/** What the snapshot declares complete: all activity types, some, or (undefined) nothing said. */
function completeActivityTypes(event: EventOf<'MESSAGES_SNAPSHOT'>): 'all' | readonly unknown[] | undefined {
  if (!event.metadata || !Object.hasOwn(event.metadata, CLIENT_METADATA)) return undefined
  const declared: unknown = event.metadata[CLIENT_METADATA]
  if (typeof declared !== 'object' || declared === null || Array.isArray(declared)) return []
  if (!('authoritativeActivityTypes' in declared)) return undefined
  const types = declared.authoritativeActivityTypes
  if (types === null) return 'all'
  return Array.isArray(types) && types.every((type) => typeof type === 'string') ? types : []
}
