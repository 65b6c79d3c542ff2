import type { Event } from '@google/adk'
import type { Part } from '../adk-types.js'
import { tagOf, type Lane } from './lane.js'
import type { EventSink } from '../../agents/index.js'

export interface ExtrasOptions {
  readonly sink: EventSink
  readonly report: (problem: string) => void
}

/** What AG-UI has no event of its own for: told as CUSTOM events. */
export interface Extras {
  /** Saved artifacts, sources and citations of a complete answer. */
  note(lane: Lane, event: Event): void
  /** What others have noted on an event. */
  metadata(lane: Lane | undefined, event: Event): void
  /** A part that is no text, call or response. */
  part(lane: Lane, part: Part): void
}

export function createExtras({ sink, report }: ExtrasOptions): Extras {
  const told = new Set<unknown>()
  /** Events of one answer share what they carry: it is told once. */
  const isNew = (what: unknown): boolean => !told.has(what) && Boolean(told.add(what))
  const custom = (lane: Lane | undefined, name: string, value: unknown): void =>
    sink.add({ type: 'CUSTOM', name, value, ...tagOf(lane) })

  return {
    note(lane, { actions, groundingMetadata, citationMetadata }) {
      const messageId = lane.holder === undefined ? {} : { messageId: lane.holder }
      if (groundingMetadata && isNew(groundingMetadata)) {
        custom(lane, 'adk.grounding', { ...messageId, metadata: groundingMetadata })
      }
      if (citationMetadata && isNew(citationMetadata)) {
        custom(lane, 'adk.citations', { ...messageId, metadata: citationMetadata })
      }
      for (const [name, version] of Object.entries(artifactsOf(actions))) {
        if (isNew(`artifact ${version} ${name}`)) custom(lane, 'adk.artifact', { name, version })
      }
    },
    metadata(lane, { customMetadata = {} }) {
      const { millrace: _mark, ...metadata } = customMetadata
      if (Object.keys(metadata).length === 0) return
      if (isJson(metadata)) custom(lane, 'adk.metadata', metadata)
      else if (isNew('metadata')) report('the metadata of an event is not JSON; it was left out')
    },
    part(lane, part) {
      const { executableCode, codeExecutionResult, inlineData, fileData } = part
      if (executableCode) custom(lane, 'adk.code', { executableCode })
      else if (codeExecutionResult) custom(lane, 'adk.code', { codeExecutionResult })
      else if (inlineData) custom(lane, 'adk.media', inlineData)
      else if (fileData) custom(lane, 'adk.media', fileData)
      else {
        const kind = Object.keys(part).find((key) => !quiet.has(key))
        if (kind !== undefined && isNew(`part ${kind}`))
          report(`parts with '${kind}' are not sent to clients`)
      }
    },
  }
}

/** Members that say something about a part and are none. */
const quiet = new Set([
  'text',
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'partMetadata',
  'mediaResolution',
])

// A plugin may answer with an event that has no actions.
function artifactsOf(actions: Event['actions'] | undefined): Readonly<Record<string, number>> {
  return actions?.artifactDelta ?? {}
}

/** Tools put anything there, and what cannot be written would end the run. */
function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}
