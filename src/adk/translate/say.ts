import type { Event } from '@google/adk'
import type { Part } from '../adk-types.js'
import type { Lane } from './lane.js'
import { isOutputOnly, textOf } from './outputs.js'
import type { Scopes } from './scopes.js'
import type { Voice } from './voice.js'

/** What it takes to say something: the message it goes to, and the span it stands in. */
export interface Saying {
  readonly voice: Voice
  readonly scopes: Scopes
}

/** Says a part of a streamed answer. The path of every token. */
export function sayPiece(saying: Saying, lane: Lane, part: Part): void {
  const { text, thought } = part
  if (text !== undefined && text !== '') {
    lane.hasSpoken = true
    if (thought === true || !lane.hidesText) {
      saying.scopes.enter(lane)
      saying.voice.piece(lane, thought === true ? lane.reasoning : lane.text, text)
    }
  }
  if (part.thoughtSignature !== undefined) sign(saying, lane, part)
}

/** Says what is new in a complete answer, and ends it. Its thoughts come first, as the model had them. */
export function sayWhole(saying: Saying, lane: Lane, event: Event): void {
  const { voice } = saying
  const parts = event.content?.parts ?? []
  voice.whole(lane, lane.reasoning, textOf(event, true))
  for (const part of parts) if (part.thought === true) sign(saying, lane, part)
  if (isChat(lane, event)) voice.whole(lane, lane.text, textOf(event))
  for (const part of parts) if (part.thought !== true) sign(saying, lane, part)
  voice.finish(lane)
}

/** Whether the text of an event is for people: not the data of an agent or a node. */
export function isChat(lane: Lane, event: Event): boolean {
  return !lane.hidesText && !isOutputOnly(lane, event)
}

/** The signature of what was said. That of a call goes with the call. */
function sign({ voice, scopes }: Saying, lane: Lane, part: Part): void {
  const { text, thought = false, thoughtSignature, ...rest } = part
  const isSpoken = text !== undefined || Object.keys(rest).length === 0
  if (thoughtSignature === undefined || !isSpoken || (!thought && lane.hidesText)) return
  scopes.enter(lane)
  voice.sign(lane, thought ? lane.reasoning : lane.text, thoughtSignature)
}
