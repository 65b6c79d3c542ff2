import { isRecord } from '../core/json.js'
import type { AgentEvent, EventOf } from '../protocol/index.js'
import type { A2uiProgress } from './contract.js'

/** The name of the event by which tools of any runtime tell how a surface is coming along. */
export const progressEventName = 'a2ui.progress'

type CallProgress = A2uiProgress & { readonly toolCallId: string }

/** What a tool of the kit, or of a graph, sends. */
export function progressValue(toolCallId: string, progress: A2uiProgress): CallProgress {
  return { toolCallId, ...progress }
}

export function progressEvent(toolCallId: string, progress: A2uiProgress): AgentEvent {
  return { type: 'CUSTOM', name: progressEventName, value: progressValue(toolCallId, progress) }
}

/** The progress in an event. ADK has no events of its own for tools: there it comes as metadata. */
export function readProgress({ name, value }: EventOf<'CUSTOM'>): CallProgress | undefined {
  const sent: unknown = name === 'adk.metadata' && isRecord(value) ? value[progressEventName] : value
  if (name !== progressEventName && name !== 'adk.metadata') return undefined
  const isProgress = isRecord(sent) && typeof sent.toolCallId === 'string' && statuses.has(sent.status)
  return isProgress ? (sent as unknown as CallProgress) : undefined
}

const statuses: ReadonlySet<unknown> = new Set(['building', 'retrying'])
