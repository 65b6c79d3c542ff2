import type { ActivityMessage } from '@ag-ui/core'
import type { EventOf } from '../events.js'
import type { MessageList } from './message-list.js'
import { addMetadata } from './metadata.js'
import { applyPatch } from './patch.js'

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
  // The content and the owner are new; the metadata goes on.
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
