import type { Event } from '@google/adk'
import type { Lane } from './lane.js'
import { toText } from './result-text.js'

/** What a run gives besides chat: the data of agents with an output schema, and of the nodes of a workflow. */
export interface Outputs {
  readonly latest: unknown
  /** A plain text that the last node gave, and that nobody has said. */
  readonly unsaid: { readonly lane: Lane; readonly text: string; readonly eventId: string } | undefined
  note(lane: Lane, event: Event): void
}

export function createOutputs(): Outputs {
  let latest: unknown
  let unsaid: Outputs['unsaid']
  return {
    get latest() {
      return latest
    },
    get unsaid() {
      return unsaid
    },
    note(lane, event) {
      const { output, id: eventId } = event
      if (output !== undefined) {
        latest = output
        unsaid =
          isOutputOnly(lane, event) && typeof output === 'string'
            ? { lane, text: output, eventId }
            : undefined
        return
      }
      const text = lane.hidesText ? textOf(event) : ''
      if (text !== '') latest = parsed(text)
    },
  }
}

/** Whether the content of an event only repeats the output of a node, as ADK does for the models that come after. */
export function isOutputOnly({ kind }: Lane, event: Event): boolean {
  const { output, nodeInfo } = event
  if (kind === 'agent' || output === undefined || nodeInfo?.messageAsOutput === true) return false
  return textOf(event) === (typeof output === 'string' ? output : toText(output))
}

/** All the text of an event, without thoughts. */
export function textOf({ content }: Event, isThought = false): string {
  let text = ''
  for (const part of content?.parts ?? []) {
    if (part.text !== undefined && (part.thought ?? false) === isThought) text += part.text
  }
  return text
}

/** What the agent was to write is JSON; when it wrote something else, that is what it gave. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The message that the output of a node becomes, when that is the answer of the run: by the id of its event. */
export function outputMessageId(eventId: string): string {
  return `output-${eventId}`
}
