import type { Event } from '@google/adk'
import { isRecord, parseJson } from '../../core/json.js'
import { toJson } from '../../core/to-json.js'
import type { AdkLane } from './lanes.js'

/** A plain text output of a workflow node that is in no message. */
interface UnwrittenText {
  readonly lane: AdkLane
  readonly text: string
  readonly eventId: string
}

/** The output of a run besides chat: data of agents with an output schema, and of workflow nodes. */
export class AdkOutput {
  latest: unknown
  /** The latest output, if it is such a text. */
  unwritten: UnwrittenText | undefined

  record(lane: AdkLane, event: Event): void {
    const { output, id: eventId } = event
    if (output !== undefined) {
      this.latest = output
      const isUnwritten = typeof output === 'string' && repeatsOutput(lane, event)
      this.unwritten = isUnwritten ? { lane, text: output, eventId } : undefined
      return
    }
    const text = lane.hidesText ? eventText(event) : ''
    if (text === '') return
    const data = parseJson(text)
    // The text itself, if the agent did not write JSON.
    this.latest = data === undefined ? text : data
  }
}

/** Whether the content of an event only repeats the output of a node, as ADK does for the models after it. */
export function repeatsOutput({ kind }: AdkLane, event: Event): boolean {
  const { output, nodeInfo } = event
  if (kind === 'agent' || output === undefined || nodeInfo?.messageAsOutput === true) return false
  return eventText(event) === (typeof output === 'string' ? output : toJsonText(output))
}

/** All text of an event, or all its thoughts. */
export function eventText({ content }: Event, isThought = false): string {
  let text = ''
  for (const part of content?.parts ?? []) {
    if (part.text !== undefined && (part.thought ?? false) === isThought) text += part.text
  }
  return text
}

/** A tool's result as text. ADK wraps values that are no objects into `{ result }`: a text is unwrapped, all else is JSON. */
export function toResultText(response: unknown): string {
  if (isRecord(response) && typeof response.result === 'string' && Object.keys(response).length === 1) {
    return response.result
  }
  return toJsonText(response ?? {})
}

/** JSON of any value, or of why there is none. Never throws. */
export function toJsonText(value: unknown): string {
  try {
    return JSON.stringify(toJson(value, 'The value'))
  } catch (error) {
    return JSON.stringify({ error: error instanceof Error ? error.message : String(error) })
  }
}
